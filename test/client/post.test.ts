import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { type Body, bytesBody, deliveryBytesMax } from '../../src/client/body.ts';
import { NoAnswer, post } from '../../src/client/post.ts';

/** The other side as bytes on a socket: an HTTP server would be too well behaved. */
let server: Server | undefined;
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  if (server) await new Promise((resolve) => server?.close(resolve));
  server = undefined;
});

/** @param serve called with each new connection */
async function listen(serve: (socket: Socket) => void): Promise<URL> {
  server = createServer((socket) => {
    sockets.add(socket);
    // What the sender does to the connection is not what these tests look at.
    socket.on('error', () => {});
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function page(status: string, body: string, headers = ''): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
}

const large = bytesBody(Buffer.alloc(deliveryBytesMax, 'x'));
const refusal = '{"code":"unauthenticated","message":"No."}';
const options = { silenceMs: 5_000 };

describe('an answer that comes while the body is still being sent', () => {
  test('is seen when the service reads no further and keeps the connection', async () => {
    const url = await listen((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write(page('401 Unauthorized', refusal));
      });
    });
    let sent = 0;
    const counted = {
      ...options,
      sent: (bytes: number) => {
        sent = bytes;
      },
    };
    const answer = await post(url, {}, large, counted);
    expect(answer).toMatchObject({ status: 401, text: refusal });
    expect(sent).toBeLessThan(large.bytes);
  });

  test('is seen when the service closes after it, also unread bytes and all', async () => {
    const url = await listen((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.end(page('413 Content Too Large', refusal, 'Connection: close\r\n'));
        setTimeout(() => socket.destroy(), 20);
      });
    });
    for (let i = 0; i < 20; i++) {
      expect(await post(url, {}, large, options)).toMatchObject({ status: 413, text: refusal });
    }
  });

  test('is seen when the service resets the connection right after it', async () => {
    // A thread of its own: in ours the service could never act between two of our steps.
    const service = new Worker(new URL('./resetting-service.ts', import.meta.url));
    const [port] = (await once(service, 'message')) as [number];
    const texts: string[] = [];
    for (let i = 0; i < 50; i++) {
      await post(new URL(`http://127.0.0.1:${port}/`), {}, large, options).then(
        ({ text }) => texts.push(text),
        (error: unknown) => expect(error).toBeInstanceOf(NoAnswer),
      );
    }
    await service.terminate();
    // A write can still meet the reset before the answer is read; what is lost so is sent again.
    expect(texts.length).toBeGreaterThanOrEqual(40);
    expect(new Set(texts)).toEqual(new Set([refusal]));
  });
});

test('the connection is kept for the next request', async () => {
  let connections = 0;
  const url = await listen((socket) => {
    connections += 1;
    socket.on('data', () => socket.write(page('202 Accepted', '{}')));
  });
  for (let i = 0; i < 5; i++) await post(url, {}, bytesBody('x'), options);
  expect(connections).toBe(1);
});

test('a body is framed by its length and arrives byte for byte', async () => {
  const arrived: Buffer[] = [];
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256));
  const url = await listen((socket) => {
    socket.on('data', (bytes) => {
      arrived.push(bytes);
      const all = Buffer.concat(arrived);
      const end = all.indexOf('\r\n\r\n');
      if (all.length === end + 4 + content.length) socket.write(page('202 Accepted', '{}'));
    });
  });
  await post(url, {}, bytesBody(content), options);
  const all = Buffer.concat(arrived);
  const [head, body] = [all.indexOf('\r\n\r\n'), all.indexOf('\r\n\r\n') + 4];
  expect(all.subarray(0, head).toString()).toContain('Content-Length: 300000');
  expect(all.subarray(0, head).toString().toLowerCase()).not.toContain('transfer-encoding');
  expect(all.subarray(body).equals(content)).toBe(true);
});

describe('no answer', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['the service closes without a word', (socket) => socket.once('data', () => socket.end())],
    ['the service resets', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['the service resets before it reads', (socket) => socket.resetAndDestroy()],
    [
      'the service speaks no HTTP',
      (socket) => socket.once('data', () => socket.write('hello\r\n\r\n')),
    ],
    [
      'the answer is cut off',
      (socket) =>
        socket.once('data', () =>
          socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\n{'),
        ),
    ],
    ['the service reads nothing', (socket) => socket.pause()],
  ])('when %s', async (_, serve) => {
    const url = await listen(serve);
    const sending = post(url, {}, large, { silenceMs: 500 });
    await expect(sending).rejects.toBeInstanceOf(NoAnswer);
  });
});

test('a slow service is waited for as long as bytes move', async () => {
  const url = await listen((socket) => {
    socket.once('data', async () => {
      for (const part of page('202 Accepted', '{"a":1}').match(/[\s\S]{1,10}/g) ?? []) {
        socket.write(part);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });
  });
  expect(await post(url, {}, bytesBody('x'), { silenceMs: 400 })).toMatchObject({ status: 202 });
});

test('a body that fails ends the request with its own error', async () => {
  let ended = false;
  const url = await listen((socket) => {
    socket.on('data', () => {});
    socket.on('close', () => {
      ended = true;
    });
  });
  const failing: Body = {
    bytes: 100,
    async *parts() {
      yield Buffer.from('half');
      throw new Error('the disk is gone');
    },
  };
  await expect(post(url, {}, failing, options)).rejects.toThrow('the disk is gone');
  await expect.poll(() => ended).toBe(true);
});

test('a caller can end a request that hangs', async () => {
  const url = await listen(() => {});
  const ending = new AbortController();
  const sending = post(url, {}, bytesBody('x'), { ...options, signal: ending.signal });
  setTimeout(() => ending.abort(new Error('enough')), 50);
  await expect(sending).rejects.toThrow('enough');
});
