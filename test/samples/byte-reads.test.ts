import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { afterEach, expect, test, vi } from 'vitest';
import { ByteReads } from '../../src/samples/byte-reads.ts';

/** A read over HTTP against a server that does whatever a ClickHouse, or what is before it, may. */

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0).reverse()) close();
});

async function serve(answer: Answer, host = '127.0.0.1') {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closings.push(() => void server.close().closeAllConnections());
  const { port, family } = server.address() as AddressInfo;
  return { server, url: `http://${family === 'IPv6' ? `[${host}]` : host}:${port}` };
}

interface Change {
  readonly username?: string;
  readonly password?: string;
  readonly requestMs?: number;
  readonly connectionsMax?: number;
}

function readsOf(url: string, change: Change = {}) {
  const { username = 'u', password = 'p', requestMs = 5_000, connectionsMax = 16 } = change;
  const address = { url, username, password, database: 'd' };
  const reads = new ByteReads(address, { connectionsMax, requestMs });
  closings.push(() => reads.close());
  return reads;
}

const statement = { query: 'SELECT 1', query_params: {} };
const textOf = async (answer: Promise<Buffer[]>) => Buffer.concat(await answer).toString();
const errorOf = (answer: Promise<unknown>) =>
  answer.then(
    () => expect.fail('it was answered'),
    (error: Error) => error,
  );

test('a statement goes out with its parameters, its database, and who asks', async () => {
  const seen: http.IncomingMessage[] = [];
  const { url } = await serve((request, response) => {
    seen.push(request);
    response.end('1\n');
  });
  const [username, password] = ['zoë', 'a:b é%&"'];
  const query_params = { source: 'é&=+ %', after: -5, sandbox: true };
  expect(
    await textOf(readsOf(url, { username, password }).read({ ...statement, query_params })),
  ).toBe('1\n');
  const [{ headers, method, url: path } = expect.fail()] = seen;
  const [scheme, credentials = ''] = headers.authorization!.split(' ');
  expect([method, scheme]).toEqual(['POST', 'Basic']);
  expect(Buffer.from(credentials, 'base64').toString()).toBe(`${username}:${password}`);
  expect(headers['user-agent']).toBe('weir');
  expect(headers['accept-encoding']).toBeUndefined();
  expect(Object.fromEntries(new URL(path!, url).searchParams)).toEqual({
    ...{ database: 'd', wait_end_of_query: '1' },
    ...{ param_source: 'é&=+ %', param_after: '-5', param_sandbox: 'true' },
  });
});

test('a server is reached by its IPv6 address', async () => {
  const { url } = await serve((_, response) => void response.end('1\n'), '::1');
  expect(await textOf(readsOf(url).read(statement))).toBe('1\n');
});

test('an answer in many chunks is whole, on a connection that is used again', async () => {
  const sockets = new Set<unknown>();
  const { url } = await serve(async (request, response) => {
    sockets.add(request.socket);
    for (let i = 0; i < 50; i++) {
      response.write(`${'x'.repeat(i)}\n`);
      if (i % 10 === 0) await sleep(1);
    }
    response.end();
  });
  const reads = readsOf(url);
  const all = Array.from({ length: 50 }, (_, i) => `${'x'.repeat(i)}\n`).join('');
  for (let i = 0; i < 3; i++) expect(await textOf(reads.read(statement))).toBe(all);
  expect(sockets.size).toBe(1);
});

/** Each connection answers its first `good` requests; then `bad` is done to it. */
async function serveThenBreak(good: number, bad: (socket: Socket) => void) {
  const uses = new Map<Socket, number>();
  const asked = { requests: 0 };
  const { url } = await serve(({ socket }, response) => {
    asked.requests += 1;
    const used = (uses.get(socket) ?? 0) + 1;
    uses.set(socket, used);
    if (used <= good) response.end('1\n');
    else bad(socket);
  });
  return { url, asked };
}

test.each([
  ['ends', (socket: Socket) => void socket.end()],
  ['resets', (socket: Socket) => void socket.resetAndDestroy()],
])('a server that %s all idle connections costs no read', async (_, bad) => {
  const { url } = await serveThenBreak(1, bad);
  const reads = readsOf(url);
  for (let round = 0; round < 3; round++) {
    const all = await Promise.all(Array.from({ length: 8 }, () => textOf(reads.read(statement))));
    expect(all).toEqual(Array(8).fill('1\n'));
    // Alone, so that all the others still idle.
    expect(await textOf(reads.read(statement))).toBe('1\n');
  }
});

test('a server that is gone while connections idle, and is back, costs no read', async () => {
  const { url, server } = await serve((_, response) => void response.end('1\n'));
  const reads = readsOf(url);
  const port = Number(new URL(url).port);
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 4 }, () => reads.read(statement)));
    server.closeAllConnections();
    if (round % 2 === 0) {
      await new Promise((resolve) => server.close(resolve));
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    }
    const again = Array.from({ length: 4 }, () => textOf(reads.read(statement)));
    expect(await Promise.all(again)).toEqual(Array(4).fill('1\n'));
  }
});

test('a new connection that breaks is not tried again', async () => {
  const { url, asked } = await serveThenBreak(0, (socket) => socket.destroy());
  const error = await errorOf(readsOf(url).read(statement));
  expect(error).toMatchObject({ code: 'ECONNRESET' });
  expect(asked.requests).toBe(1);
});

test.each([
  ['is reset', (response: http.ServerResponse) => response.socket!.resetAndDestroy()],
  ['ends early', (response: http.ServerResponse) => response.socket!.end()],
])('an answer that %s in its middle rejects, and is not asked for again', async (_, bad) => {
  for (const head of [{ 'Content-Length': 100 }, { 'Transfer-Encoding': 'chunked' }]) {
    let requests = 0;
    const { url } = await serve((__, response) => {
      requests += 1;
      if (requests === 1) return void response.end('1\n');
      response.writeHead(200, head);
      response.write('half\n', () => setTimeout(() => bad(response), 5));
    });
    const reads = readsOf(url);
    await reads.read(statement);
    expect(await errorOf(reads.read(statement))).toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toBe(2);
  }
});

const refusal =
  'Code: 60. DB::Exception: Unknown table expression identifier. (UNKNOWN_TABLE) (version 25)\n';

test.each([
  ['a status of 500', 500, {}],
  ['a status of 200 and an exception code', 200, { 'X-ClickHouse-Exception-Code': '60' }],
])('a refusal with %s is the exception of ClickHouse', async (_, status, head) => {
  const { url } = await serve((__, response) => void response.writeHead(status, head).end(refusal));
  const error = await errorOf(readsOf(url).read(statement));
  expect(error).toBeInstanceOf(ClickHouseError);
  expect(error).toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
});

test.each([
  ['<h1>Bad Gateway</h1>', '<h1>Bad Gateway</h1>'],
  ['', 'an answer of status 502 without a text'],
])('what stands before ClickHouse may refuse with %j', async (text, message) => {
  const { url } = await serve((_, response) => void response.writeHead(502).end(text));
  const error = await errorOf(readsOf(url).read(statement));
  expect(error).not.toBeInstanceOf(ClickHouseError);
  expect(error.message).toBe(message);
});

test.each([
  ['before its head', (): void => {}],
  ['in its body', (response: http.ServerResponse) => void response.write('half\n')],
])('an answer that hangs %s is given up in time, also one that waits behind', async (_, hang) => {
  const { url } = await serve((__, response) => hang(response));
  const reads = readsOf(url, { requestMs: 100, connectionsMax: 2 });
  const began = performance.now();
  const all = await Promise.all(Array.from({ length: 6 }, () => errorOf(reads.read(statement))));
  expect(performance.now() - began).toBeLessThan(1_000);
  for (const { message } of all) expect(message).toBe('no whole answer within 100 ms');
});

test('a second try has what the first has left of the time', async () => {
  let requests = 0;
  const { url } = await serve((request, response) => {
    requests += 1;
    if (requests === 1) response.end('1\n');
    else if (requests === 2) setTimeout(() => request.socket.destroy(), 400);
  });
  const reads = readsOf(url, { requestMs: 600 });
  await reads.read(statement);
  const began = performance.now();
  expect((await errorOf(reads.read(statement))).message).toBe('no whole answer within 600 ms');
  expect(performance.now() - began).toBeLessThan(900);
  expect(requests).toBe(3);
});

test('a silence longer than connections may idle breaks no answer', async () => {
  const { url } = await serve(async (_, response) => {
    response.write('half\n');
    await sleep(2_800);
    response.end('whole\n');
  });
  expect(await textOf(readsOf(url).read(statement))).toBe('half\nwhole\n');
});

test('no more connections are open than may be', async () => {
  let [open, most] = [0, 0];
  const { url, server } = await serve(async (_, response) => {
    await sleep(5);
    response.end('1\n');
  });
  server.on('connection', (socket) => {
    most = Math.max(most, ++open);
    socket.on('close', () => open--);
  });
  const reads = readsOf(url, { connectionsMax: 3 });
  await Promise.all(Array.from({ length: 30 }, () => reads.read(statement)));
  expect(most).toBe(3);
});

test('a close ends what is under way and what waits, and nobody is asked again', async () => {
  let requests = 0;
  const { url } = await serve((_, response) => {
    requests += 1;
    if (requests <= 2) response.end('1\n');
  });
  const reads = readsOf(url, { connectionsMax: 2 });
  await Promise.all([reads.read(statement), reads.read(statement)]);
  const all = Array.from({ length: 6 }, () => errorOf(reads.read(statement)));
  await vi.waitFor(() => expect(requests).toBe(4));
  reads.close();
  for (const { message } of await Promise.all(all)) expect(message).toBe('the reads are closed');
  await sleep(50);
  expect(requests).toBe(4);
});
