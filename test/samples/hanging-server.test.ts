import net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { type SampleStore, SamplesAway } from '../../src/samples/samples.ts';

let server: net.Server;
const sockets: net.Socket[] = [];
let store: SampleStore;

/** Takes every connection and answers nothing, as a stopped process does. */
beforeEach(async () => {
  server = net.createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const address = { url: `http://127.0.0.1:${port}`, username: 'u', password: 'p' };
  store = openSamples({ ...address, database: 'd' }, { pingMs: 100, readMs: 200 });
});
afterEach(async () => {
  await store.close();
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

const window = { sourceId: '00000000-0000-4000-8000-000000000000', fromDay: 0, toDay: 1, limit: 1 };
const rejections = { artifactId: window.sourceId, generation: 0, limit: 1 };

test.each([
  { who: 'a health check', ask: () => store.ping() },
  { who: 'a window read', ask: () => store.window(window) },
  { who: 'a read of rejections', ask: () => store.rejections(rejections) },
])('$who does not wait for a server that hangs', async ({ ask }) => {
  const began = performance.now();
  await expect(ask()).rejects.toThrow(SamplesAway);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('reads that waited in vain leave their connections to those that come', async () => {
  for (let round = 0; round < 2; round++) {
    const reads = Array.from({ length: 40 }, () => store.window(window));
    const outcomes = await Promise.allSettled(reads);
    expect(outcomes.map(({ status }) => status)).toEqual(reads.map(() => 'rejected'));
  }
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1\n'));
  });
  await store.ping();
});
