import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { parseS3Address } from '../../src/artifacts/s3/address.ts';
import { S3Store } from '../../src/artifacts/s3/store.ts';
import { failure, newObject, put, sha256 } from './bodies.ts';
import { fakeStore, serve, storeAt } from './fake-store.ts';
import { someMeta } from './some-meta.ts';

describe('an upload to a store', () => {
  test('that does not read waits, and holds no more than the kernel takes', async () => {
    const { store } = await fakeStore((socket) => socket.pause());
    const piece = Buffer.alloc(1 << 20);
    const upload = store.begin(newObject(), 64 << 20, someMeta());
    let resolved = 0;
    const writes = Array.from({ length: 64 }, () =>
      upload.write(piece).then(() => {
        resolved += 1;
      }),
    );
    const settled = Promise.allSettled(writes);
    await sleep(300);
    const taken = resolved;
    expect(taken).toBeLessThan(32);
    await sleep(200);
    expect(resolved).toBe(taken);
    await upload.abort();
    const outcomes = await settled;
    expect(outcomes.at(-1)).toMatchObject({ status: 'rejected', reason: expect.any(StoreAway) });
  });

  test('that takes nothing for too long is lost', async () => {
    const { store } = await fakeStore((socket) => socket.pause(), { stallMs: 200 });
    const upload = store.begin(newObject(), 64 << 20, someMeta());
    const error = await failure(upload.write(Buffer.alloc(64 << 20)));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('takes nothing');
  });

  test('may pause for as long as its sender does', async () => {
    const { store } = await fakeStore((socket) => serve(socket), { stallMs: 50, idleMs: 50 });
    const upload = store.begin(newObject(), 2, someMeta());
    await upload.write(Buffer.from('a'));
    await sleep(200);
    await upload.write(Buffer.from('b'));
    await upload.commit(sha256(Buffer.from('ab')));
  });

  test('that never answers is lost at the deadline', async () => {
    const { store } = await fakeStore((socket) => socket.resume(), { responseMs: 200 });
    const began = performance.now();
    const error = await failure(put(store, Buffer.alloc(10_000)));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('no answer within 200 ms');
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  test('that cannot be reached is lost at once', async () => {
    const { port, server } = await fakeStore(() => {});
    server.close();
    await once(server, 'close');
    const error = await failure(put(storeAt(port), Buffer.alloc(1)));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('that accepts no connection is lost at the deadline', async () => {
    // A TLS handshake that is never answered stands for it: loopback itself connects at once.
    const { port } = await fakeStore((socket) => socket.resume());
    const address = parseS3Address(`s3+https://k:s@127.0.0.1:${port}/weir`);
    const store = new S3Store(address, { connectMs: 150 });
    const error = await failure(put(store, Buffer.alloc(1)));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('no connection within 150 ms');
    await store.close();
  });

  test.each(['resetAndDestroy', 'destroy', 'end'] as const)(
    'whose socket is cut (%s) in the middle is lost, and not sent again',
    async (cut) => {
      const { store, sockets } = await fakeStore((socket) => {
        let bytes = 0;
        socket.on('data', (chunk) => {
          bytes += chunk.length;
          if (bytes > 100_000) socket[cut]();
        });
      });
      const error = await failure(put(store, Buffer.alloc(1 << 20)));
      expect(error).toBeInstanceOf(StoreAway);
      expect(sockets).toHaveLength(1);
    },
  );

  test('that answers before the trailer is refused, whatever the answer', async () => {
    for (const status of ['200 OK', '503 Slow Down']) {
      const body = '<Error><Code>SlowDown</Code></Error>';
      const { store } = await fakeStore((socket) => {
        const answer = `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
        socket.once('data', () => socket.write(answer));
        socket.resume();
      });
      const upload = store.begin(newObject(), 20, someMeta());
      await upload.write(Buffer.alloc(10));
      await sleep(50);
      const error = await failure(upload.write(Buffer.alloc(10)));
      expect(error).toBeInstanceOf(StoreAway);
      expect(error.message).toContain(`${status.slice(0, 3)} (SlowDown`);
    }
  });

  test.each([
    { title: 'does not confirm the sum', edit: (good: string) => good.replace('sha256', 'crc32') },
    { title: 'confirms another sum', edit: (good: string) => good.replace(/: .{4}/, ': AAAA') },
    { title: 'speaks another protocol', edit: () => 'SSH-2.0-x\r\n\r\n' },
    { title: 'says 204', edit: (good: string) => good.replace('200', '204') },
  ])('that $title is lost', async ({ edit }) => {
    const { store } = await fakeStore((socket) => serve(socket, edit));
    expect(await failure(put(store, Buffer.alloc(10)))).toBeInstanceOf(StoreAway);
  });
});

describe('the connections of uploads', () => {
  test('are used again, one upload after the other', async () => {
    const { store, sockets } = await fakeStore((socket) => serve(socket));
    for (let i = 0; i < 5; i++) await put(store, Buffer.alloc(100));
    expect(sockets).toHaveLength(1);
  });

  test('are at most so many as may upload at once', async () => {
    const { store, sockets } = await fakeStore((socket) => serve(socket), { atOnce: 4 });
    await Promise.all(Array.from({ length: 40 }, () => put(store, Buffer.alloc(100))));
    expect(sockets.length).toBeLessThanOrEqual(4);
  });

  test('are dropped when idle for too long', async () => {
    const { store, sockets } = await fakeStore((socket) => serve(socket), { idleMs: 50 });
    await put(store, Buffer.alloc(100));
    await sleep(150);
    expect(sockets[0]!.closed).toBe(true);
    await put(store, Buffer.alloc(100));
    expect(sockets).toHaveLength(2);
  });

  test.each(['destroy', 'resetAndDestroy'] as const)(
    'that the store closed while idle (%s) are replaced without a failure',
    async (close) => {
      const { store, sockets } = await fakeStore((socket) => serve(socket));
      for (let i = 1; i <= 5; i++) {
        await put(store, Buffer.alloc(100));
        expect(sockets).toHaveLength(i);
        // The next upload begins before the event loop has seen the end.
        sockets.at(-1)!.removeAllListeners('data')[close]();
      }
    },
  );

  test('that die in the moment of their use are replaced, once', async () => {
    const { store, sockets } = await fakeStore((socket) => serve(socket));
    await put(store, Buffer.alloc(100));
    // Comes after the look at the idle connections and just before one is used, so that its first
    // write is what meets the reset.
    setImmediate(() => setImmediate(() => sockets[0]!.resetAndDestroy()));
    await put(store, Buffer.alloc(100));
    expect(sockets).toHaveLength(2);
  });

  test('that asked to be closed, or said too much, are not used again', async () => {
    for (const edit of [
      (good: string) => good.replace('\r\n', '\r\nConnection: close\r\n'),
      (good: string) => `${good}HTTP/1.1 200 OK\r\n`,
    ]) {
      const { store, sockets } = await fakeStore((socket) => serve(socket, edit));
      await put(store, Buffer.alloc(100));
      await put(store, Buffer.alloc(100));
      expect(sockets).toHaveLength(2);
    }
  });

  test('are freed by an abort at any stage, so that others have their turn', async () => {
    const { store } = await fakeStore((socket) => serve(socket), { atOnce: 1, waitMs: 2_000 });
    const one = store.begin(newObject(), 10, someMeta());
    const two = store.begin(newObject(), 10, someMeta());
    await one.write(Buffer.alloc(5));
    const waiting = failure(two.write(Buffer.alloc(5)));
    await two.abort();
    expect(await waiting).toBeInstanceOf(StoreAway);
    const connecting = store.begin(newObject(), 10, someMeta());
    await one.abort();
    const written = failure(connecting.write(Buffer.alloc(5)));
    await connecting.abort();
    expect(await written).toBeInstanceOf(StoreAway);
    for (let i = 0; i < 3; i++) await put(store, Buffer.alloc(100));
  });

  test('go to others while a sender stalls, who goes on where it was', async () => {
    const { store, sockets } = await fakeStore((socket) => serve(socket), {
      ...{ atOnce: 1, restMs: 20 },
    });
    const stalled = store.begin(newObject(), 10, someMeta());
    await stalled.write(Buffer.alloc(5, 'a'));
    const began = performance.now();
    await put(store, Buffer.alloc(100));
    expect(performance.now() - began).toBeLessThan(1_000);
    await stalled.write(Buffer.alloc(5, 'b'));
    await stalled.commit(sha256(Buffer.from('aaaaabbbbb')));
    expect(sockets).toHaveLength(2);
  });

  test('keep the order of writes that wait for their turn together', async () => {
    let received = '';
    const { store } = await fakeStore(
      (socket) => {
        socket.on('data', (bytes) => {
          received += bytes.toString('latin1');
        });
        serve(socket);
      },
      { atOnce: 1, restMs: 20 },
    );
    const stalled = store.begin(newObject(), 4, someMeta());
    await stalled.write(Buffer.from('1'));
    const other = store.begin(newObject(), 2, someMeta());
    await other.write(Buffer.from('x'));
    const writes = ['2', '3', '4'].map((text) => stalled.write(Buffer.from(text)));
    await Promise.all(writes);
    await stalled.commit(sha256(Buffer.from('1234')));
    expect(received).toContain('234');
    await other.write(Buffer.from('y'));
    await other.commit(sha256(Buffer.from('xy')));
  });

  test('of the one that stalls longest is taken when too many stall', async () => {
    const { store } = await fakeStore((socket) => serve(socket), {
      ...{ atOnce: 1, restMs: 20, lentMax: 1, stalledMs: 50 },
    });
    const stalled = [0, 1, 2].map(() => store.begin(newObject(), 10, someMeta()));
    for (const one of stalled) await one.write(Buffer.alloc(5));
    const error = await failure(stalled[0]!.write(Buffer.alloc(5)));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('stalled while others waited');
    for (const one of stalled.slice(1)) {
      await one.write(Buffer.alloc(5));
      await one.commit(sha256(Buffer.alloc(10)));
    }
  });

  test('leave who waits for too long to its caller', async () => {
    const { store } = await fakeStore((socket) => serve(socket), { atOnce: 1, waitMs: 50 });
    const holder = store.begin(newObject(), 10, someMeta());
    await holder.write(Buffer.alloc(5));
    const error = await failure(put(store, Buffer.alloc(1)));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('no turn within 50 ms');
  });
});
