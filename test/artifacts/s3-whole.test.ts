import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { segmentName } from '../../src/artifacts/object-name.ts';
import type { S3Store } from '../../src/artifacts/s3/store.ts';
import { failure, newObject, sha256 } from './bodies.ts';
import { fakeStore, serve, storeAt } from './fake-store.ts';
import { putSegment, wholeBodies } from './segments.ts';
import { someMeta } from './some-meta.ts';

/** Stores a segment of one body of 100 bytes. */
const put = (store: S3Store) => putSegment(store, wholeBodies(1, 100));

describe('a segment on its way to a store', () => {
  test('is one write: the store has all of it at once', async () => {
    const chunks: Buffer[] = [];
    const { store } = await fakeStore((socket) => {
      socket.on('data', (chunk) => chunks.push(chunk));
      serve(socket);
    });
    const { object, bytes } = await put(store);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]!.includes(bytes)).toBe(true);
    expect(chunks[0]!.toString('latin1')).toContain(`PUT /weir/${object} HTTP/1.1\r\n`);
  });

  test('sends nothing before the commit, and nothing after an abort', async () => {
    const { store, sockets } = await fakeStore((socket) => serve(socket));
    const upload = store.begin(segmentName(newObject()), 3, null);
    await upload.write(Buffer.from('abc'));
    await upload.abort();
    const error = await failure(upload.commit(sha256(Buffer.from('abc'))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(await failure(upload.write(Buffer.alloc(0)))).toBe(error);
    expect(sockets).toHaveLength(0);
  });

  test('may be given up while the answer is awaited', async () => {
    const { store, sockets } = await fakeStore((socket) => socket.resume());
    const upload = store.begin(segmentName(newObject()), 1, null);
    await upload.write(Buffer.from('a'));
    const lost = failure(upload.commit(sha256(Buffer.from('a'))));
    await expect.poll(() => sockets.length).toBe(1);
    await upload.abort();
    expect(await lost).toBeInstanceOf(StoreAway);
    await once(sockets[0]!, 'close');
  });

  test('that is never answered is lost at the deadline, and not sent again', async () => {
    let answers = true;
    const treat = (socket: Parameters<typeof serve>[0]) => {
      serve(socket, (good) => (answers ? good : ''));
    };
    const { store, sockets } = await fakeStore(treat, { responseMs: 150 });
    await put(store);
    answers = false;
    const error = await failure(put(store));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('no answer within 150 ms');
    expect(sockets).toHaveLength(1);
  });

  test('that cannot be sent is lost at once', async () => {
    const { port, server } = await fakeStore(() => {});
    server.close();
    await once(server, 'close');
    const error = await failure(put(storeAt(port)));
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test.each([
    { title: 'does not confirm the sum', edit: (good: string) => good.replace('sha256', 'crc32') },
    { title: 'confirms another sum', edit: (good: string) => good.replace(/: .{4}/, ': AAAA') },
    { title: 'speaks another protocol', edit: () => 'SSH-2.0-x\r\n\r\n' },
    { title: 'says 503', edit: (good: string) => good.replace('200', '503') },
  ])('that the store $title is lost', async ({ edit }) => {
    const { store } = await fakeStore((socket) => serve(socket, edit));
    expect(await failure(put(store))).toBeInstanceOf(StoreAway);
  });

  test.each(['destroy', 'resetAndDestroy'] as const)(
    'goes over a fresh connection when the idle one was closed (%s), once',
    async (close) => {
      const { store, sockets } = await fakeStore((socket) => serve(socket));
      for (let i = 1; i <= 5; i++) {
        await put(store);
        expect(sockets).toHaveLength(i);
        sockets.at(-1)!.removeAllListeners('data')[close]();
      }
    },
  );

  test('does not wait behind bodies whose senders stall', async () => {
    const { store } = await fakeStore((socket) => serve(socket), { atOnce: 1, waitMs: 100 });
    const stalled = store.begin(newObject(), 10, someMeta());
    await stalled.write(Buffer.alloc(5));
    await put(store);
    await stalled.abort();
  });

  test('that is cut off again and again is lost, and others have their turn', async () => {
    const { store, sockets } = await fakeStore(
      (socket, nth) => {
        if (nth === 1 || nth > 3) return serve(socket);
        socket.once('data', () => socket.resetAndDestroy());
      },
      { wholeAtOnce: 1 },
    );
    await put(store);
    sockets[0]!.removeAllListeners('data').once('data', () => sockets[0]!.resetAndDestroy());
    expect(await failure(put(store))).toBeInstanceOf(StoreAway);
    expect(sockets).toHaveLength(2);
    expect(await failure(put(store))).toBeInstanceOf(StoreAway);
    await put(store);
  });
});
