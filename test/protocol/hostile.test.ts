import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiHere, type HereSource, startApiHere } from '../support/api-here.ts';
import { RawSocket } from '../support/raw-socket.ts';

/**
 * Hostile HTTP (DECISIONS 6): what the parser itself refuses, cuts off or passes on. README, "What
 * the HTTP parser refuses", tells the same.
 */

let api: ApiHere;
let source: HereSource;
beforeAll(async () => {
  api = await startApiHere({ WEIR_RATE_PER_MINUTE: '1000', WEIR_RATE_BURST: '1000' });
  source = await api.source();
});
afterAll(() => api?.stop());

const key = () => `Authorization: Bearer ${source.key}\r\n`;
const get = (line = 'GET /v1/samples HTTP/1.1', lines = '') =>
  `${line}\r\nHost: x\r\n${lines}${key()}\r\n`;

async function sent(bytes: string): Promise<RawSocket> {
  const socket = await RawSocket.open(api.port);
  socket.write(Buffer.from(bytes, 'latin1'));
  return socket;
}

describe('a short page and the end of the connection', () => {
  const refused: Record<string, readonly [() => string, number]> = {
    'no Host': [() => `GET /v1/samples HTTP/1.1\r\n${key()}\r\n`, 400],
    'HTTP/1.0': [() => get('GET /v1/samples HTTP/1.0'), 505],
    'HTTP/2.0': [() => get('GET /v1/samples HTTP/2.0'), 505],
    'the HTTP/2 preface': [() => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
    'an absolute-form target': [() => get('GET http://x/v1/samples HTTP/1.1'), 505],
    'an asterisk-form target': [() => get('OPTIONS * HTTP/1.1'), 505],
    CONNECT: [() => get('CONNECT x:80 HTTP/1.1'), 505],
    'a path without a slash': [() => get('GET v1/samples HTTP/1.1'), 505],
    'no path': [() => get('GET  HTTP/1.1'), 505],
    'NUL in the path': [() => get('GET /v1/samp\0les HTTP/1.1'), 505],
    'NUL before the method': [() => `\0${get()}`, 505],
    'line feeds alone': [() => get().replaceAll('\r', ''), 505],
    'a TLS hello': [() => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 505],
    '110 headers': [() => get(undefined, 'X-A: b\r\n'.repeat(110)), 431],
    'a head over 16 KiB': [() => get(undefined, `X-A: ${'b'.repeat(17_000)}\r\n`), 431],
    'a path over 16 KiB': [() => get(`GET /${'x'.repeat(17_000)} HTTP/1.1`), 431],
  };
  test.each(Object.entries(refused))('for %s', async (_, [bytes, status]) => {
    const socket = await sent(bytes());
    const answer = await socket.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
    expect(answer.body).toMatch(/^<h1>/);
    expect(await socket.end(2_000)).toBe(true);
  });
});

describe('no answer, and the end of the connection after its deadline', () => {
  const stuck: Record<string, string> = {
    'NUL in a header': 'X-A: a\0b\r\n',
    'NUL in a header name': 'X\0A: b\r\n',
    'a control character in a header': 'X-A: a\x01b\r\n',
    'a carriage return in a header': 'X-A: a\rb\r\n',
    'a header without a colon': 'nocolon\r\n',
    'a space before the colon': 'Content-Length : 5\r\n',
    'a folded header': 'X-A: b\r\n c\r\n',
  };
  test('for what the parser does not take for a head', async () => {
    const all = [
      ...Object.values(stuck).map((lines) => get(undefined, lines)),
      'GET /v1/samples\r\n\r\n',
    ];
    const sockets = await Promise.all(all.map((bytes) => sent(bytes)));
    const uses = api.uses.length;
    const ended = await Promise.all(sockets.map((socket) => socket.end(20_000)));
    expect(ended).toEqual(all.map(() => true));
    expect(sockets.map((socket) => socket.received)).toEqual(all.map(() => ''));
    expect(api.uses).toHaveLength(uses);
  });
});

describe('an answer like any other', () => {
  const taken: Record<string, readonly [() => string, number]> = {
    'a header without a value': [() => get(undefined, 'X-A:\r\n'), 200],
    '90 headers': [() => get(undefined, 'X-A: b\r\n'.repeat(90)), 200],
    'a query of 3,000 characters': [
      () => get(`GET /v1/samples?${'x'.repeat(3_000)} HTTP/1.1`),
      200,
    ],
    'an offer of h2c': [() => get(undefined, 'Connection: Upgrade\r\nUpgrade: h2c\r\n'), 200],
    'an offer of a WebSocket': [
      () => get(undefined, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
      200,
    ],
    'two Host lines': [() => get(undefined, 'Host: y\r\n'), 400],
    'a method in small letters': [() => get('get /v1/samples HTTP/1.1'), 405],
    'an unknown method': [() => get('G@T /v1/samples HTTP/1.1'), 405],
    'a path with ..': [() => get('GET /v1/x/../samples HTTP/1.1'), 404],
    'a path that begins with ..': [() => get('GET /../v1/samples HTTP/1.1'), 404],
    'a path with .. percent-encoded': [() => get('GET /v1/%2e%2e/v1/samples HTTP/1.1'), 404],
    'a path percent-encoded': [() => get('GET /v1/s%61mples HTTP/1.1'), 404],
    'NUL percent-encoded in an id': [() => get('GET /v1/deliveries/%00 HTTP/1.1'), 404],
    'a path with two slashes': [() => get('GET //v1/samples HTTP/1.1'), 404],
    'a path with a fragment': [() => get('GET /v1/samples#x HTTP/1.1'), 404],
    'a path beyond ASCII': [() => get('GET /v1/s\xe4mples HTTP/1.1'), 404],
  };
  test.each(Object.entries(taken))('for %s', async (_, [bytes, status]) => {
    const socket = await sent(bytes());
    const answer = await socket.answer();
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/json');
    if (status === 400) expect(JSON.parse(answer.body).field).toBe('Host');
    // The connection goes on.
    socket.write(get());
    expect((await socket.answer()).status).toBe(200);
    socket.destroy();
  });

  test('a header without a name ends the list of headers: no key, 401', async () => {
    const socket = await sent(get(undefined, ': b\r\n'));
    expect((await socket.answer()).status).toBe(401);
    socket.destroy();
  });
});

describe('pipelined requests', () => {
  test('end the connection when one comes before the answer before it', async () => {
    const { window } = api;
    api.window = (query) => sleep(50).then(() => window(query));
    // A window that nobody has read: a kept answer would be there before the next request.
    const unread = get('GET /v1/samples?from=2001-02-03 HTTP/1.1');
    const socket = await sent(unread + unread + unread);
    expect(await socket.end(2_000)).toBe(true);
    expect(socket.received).toBe('');
    api.window = window;
  });

  test('are answered in order when each comes after the answer before it', async () => {
    const socket = await sent(get());
    for (const path of ['/nowhere', '/v1/samples']) {
      expect((await socket.answer()).status).toBe(path === '/nowhere' ? 200 : 404);
      socket.write(get(`GET ${path} HTTP/1.1`));
    }
    expect((await socket.answer()).status).toBe(200);
    socket.destroy();
  });
});
