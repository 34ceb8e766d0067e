import { App, us_listen_socket_close } from 'uWebSockets.js';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Connections, connectionsMax } from '../../src/http/connections.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';

test('beyond the limit a new connection is closed at once, and each end makes room', async () => {
  const said: object[] = [];
  const connections = new Connections(3, { error: (fields) => void said.push(fields) }, () => {});
  const port = await serve(connections);
  const first = await Promise.all([open(port), open(port), open(port)]);
  const beyond = await Promise.all([open(port), open(port)]);
  await vi.waitFor(() => expect(beyond.map(({ closed }) => closed)).toEqual([true, true]));
  expect(await asks(first[0]!)).toMatch(/^HTTP\/1.1 200 /);
  expect(connections.open).toBe(3);
  expect(said).toEqual([{ connectionsMax: 3 }]);

  first[1]!.destroy();
  await vi.waitFor(() => expect(connections.open).toBe(2));
  expect(await asks(await open(port))).toMatch(/^HTTP\/1.1 200 /);
});

test('the limit leaves files for the stores', () => {
  expect(connectionsMax()).toBeGreaterThan(100);
  expect(connectionsMax()).toBeLessThanOrEqual(10_000);
});

async function serve(connections: Connections): Promise<number> {
  const [port] = await freePorts(1);
  const app = App();
  connections.watch(app);
  app.any('/*', (res) => void res.end('there'));
  await new Promise<void>((resolve) => {
    app.listen('127.0.0.1', port!, (socket) => {
      onTestFinished(() => {
        if (socket) us_listen_socket_close(socket);
        app.close();
      });
      resolve();
    });
  });
  return port!;
}

async function open(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  await new Promise((resolve) => socket.once('connect', resolve));
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function asks(socket: net.Socket): Promise<string> {
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  for (let i = 0; i < 100 && !received; i++) await sleep(10);
  return received;
}
