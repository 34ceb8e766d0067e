import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Listener, listen } from '../../src/http/listener.ts';
import type { Route } from '../../src/http/routes.ts';
import { unreadBytes } from '../../src/http/unread-answers.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';

/** Answers that are made while they are sent. */

const piece = Buffer.alloc(300_000, 'a line of text, and the next\n');
const pieces = 200;
let made = 0;
let ended = 0;

/** @param failsAt before this piece, counted from 0 */
async function* making(failsAt = pieces): AsyncGenerator<Uint8Array> {
  try {
    for (let i = 0; i < pieces; i++) {
      if (i === failsAt) throw new Error('the store went away');
      made += 1;
      yield piece;
    }
  } finally {
    ended += 1;
  }
}

const failing: Readonly<Record<string, number>> = { first: 0, later: 3 };
const route: Route = {
  method: 'GET',
  pattern: '/rows/:which',
  async handle(exchange, [which]) {
    const headers = { 'Content-Type': 'text/csv' };
    await exchange.stream({ status: 200, headers }, making(failing[which!]));
  },
};

let port: number;
let listener: Listener;
beforeAll(async () => {
  [port] = (await freePorts(1)) as [number];
  listener = await listen({ host: '127.0.0.1', port }, [route], { error() {} });
});
afterAll(() => listener.close(0));
beforeEach(() => {
  [made, ended] = [0, 0];
});

const address = (which: string) => `http://127.0.0.1:${port}/rows/${which}`;
const digest = (bytes: Iterable<Uint8Array>) => {
  const hash = createHash('sha256');
  for (const part of bytes) hash.update(part);
  return hash.digest('hex');
};

test('all pieces come, in order, to their end, and the connection serves on', async () => {
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(address('all'));
    expect(answer.headers.get('content-type')).toBe('text/csv');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const body = new Uint8Array(await answer.arrayBuffer());
    expect(digest([body])).toBe(digest(Array.from({ length: pieces }, () => piece)));
  }
  expect([made, ended, unreadBytes()]).toEqual([2 * pieces, 2, 0]);
});

test('what a reader does not take is not made, and nothing is once it goes away', async () => {
  const reader = net.connect(port, '127.0.0.1').on('error', () => {});
  await once(reader, 'connect');
  reader.pause();
  reader.write('GET /rows/all HTTP/1.1\r\nHost: x\r\n\r\n');
  await sleep(500);
  const begun = made;
  // Some megabytes lie in the buffers of the two sockets.
  expect(begun).toBeLessThan(60);
  await sleep(300);
  expect(made).toBe(begun);
  expect(unreadBytes()).toBeGreaterThan(0);
  reader.destroy();
  await expect.poll(() => [ended, unreadBytes()]).toEqual([1, 0]);
  expect(made).toBe(begun);
});

test('a failure is an error while nothing is sent, then it breaks the answer off', async () => {
  expect((await fetch(address('first'))).status).toBe(500);
  const broken = fetch(address('later')).then((answer) => answer.arrayBuffer());
  await expect(broken).rejects.toThrow();
  expect([made, ended]).toEqual([3, 2]);
});
