import { expect, onTestFinished, test } from 'vitest';
import { type Listener, type ListenerAddress, listen } from '../../src/http/listener.ts';
import type { Route } from '../../src/http/routes.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';
import { RawSocket } from '../support/raw-socket.ts';

const route: Route = {
  method: 'GET',
  pattern: '/there',
  async handle(exchange) {
    exchange.reply({ status: 200, body: 'there' });
  },
};

async function open(address: ListenerAddress): Promise<Listener> {
  const listener = await listen(address, [route], { error() {} });
  onTestFinished(() => listener.close(0));
  return listener;
}

async function freeAddress(): Promise<ListenerAddress> {
  const [port] = await freePorts(1);
  return { host: '127.0.0.1', port: port! };
}

test('two share an address where both say so; when one closes, the other answers', async () => {
  const address = { ...(await freeAddress()), shared: true };
  const [first] = [await open(address), await open(address)];
  await first.close(1_000);
  for (let i = 0; i < 20; i++) {
    const socket = await RawSocket.open(address.port);
    socket.write('GET /there HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await socket.answer()).status).toBe(200);
    socket.destroy();
  }
});

test.each([
  [false, false],
  [false, true],
  [true, false],
])('nobody shares an address unawares (%s, %s)', async (shared, second) => {
  const address = await freeAddress();
  await open({ ...address, shared });
  await expect(open({ ...address, shared: second })).rejects.toThrow(
    `the address 127.0.0.1:${address.port} cannot be listened on`,
  );
});

test('a close answers who is connected and asks late, and ends who does not ask', async () => {
  const address = await freeAddress();
  const listener = await open(address);
  const [late, silent] = [await RawSocket.open(address.port), await RawSocket.open(address.port)];
  const began = performance.now();
  const closed = listener.close(5_000).then(() => performance.now() - began);
  setTimeout(() => late.write('GET /there HTTP/1.1\r\nHost: x\r\n\r\n'), 100);
  const answer = await late.answer();
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
  expect(await silent.end(5_000)).toBe(true);
  expect(await closed).toBeLessThan(2_000);
});
