import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { segmentName } from '../../src/artifacts/object-name.ts';
import { parseS3Address } from '../../src/artifacts/s3/address.ts';
import { S3Store } from '../../src/artifacts/s3/store.ts';
import type { S3Server } from '../support/s3-server.ts';
import { bodyOf, failure, namesIn, newObject, put, readAll, sha256, writeAll } from './bodies.ts';
import { someMeta } from './some-meta.ts';

/** How a store names what it refuses: stores differ in it. */
export interface Words {
  /** A trailer with the SHA-256 of another body. */
  readonly wrongTrailer: string;
  /** A head with the SHA-256 of another body. */
  readonly wrongHash: string;
}

async function openStore(server: S3Server, limits = {}): Promise<S3Store> {
  const store = new S3Store(parseS3Address(server.url(`weir-${randomUUID()}`)), limits);
  await store.prepare();
  return store;
}

/** What a store checks of what it is sent, so that weir need not read it again. */
export function verified(server: () => S3Server, says: Words): void {
  test('a wrong SHA-256 stores nothing', async () => {
    const store = await openStore(server());
    const body = bodyOf('any', 300_000);
    const upload = store.begin(newObject(), body.length, someMeta());
    await writeAll(upload, body);
    const error = await failure(upload.commit(sha256(Buffer.from('other'))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain(says.wrongTrailer);
    expect(await namesIn(store)).toEqual([]);
    await store.close();
  });

  test('a segment with a wrong SHA-256 stores nothing', async () => {
    const store = await openStore(server());
    const upload = store.begin(segmentName(newObject()), 3, null);
    await upload.write(Buffer.from('abc'));
    const error = await failure(upload.commit(sha256(Buffer.from('abd'))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain(says.wrongHash);
    expect(await namesIn(store)).toEqual([]);
    await store.close();
  });

  test('a body that a wrong key signed is refused with the reason of the store', async () => {
    const address = parseS3Address(server().url(`weir-${randomUUID()}`));
    await openStore(server());
    const store = new S3Store({ ...address, secretKey: 'not the secret' });
    const upload = store.begin(newObject(), 1_000, someMeta());
    await upload.write(Buffer.alloc(1_000));
    const error = await failure(upload.commit(sha256(Buffer.alloc(1_000))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('SignatureDoesNotMatch');
    expect(await failure(store.ping())).toBeInstanceOf(StoreAway);
    await store.close();
  });

  test('uploads beyond the number allowed at once wait and are all stored', async () => {
    const store = await openStore(server(), { atOnce: 3 });
    const objects = Array.from({ length: 20 }, newObject);
    await Promise.all(objects.map((object) => put(store, bodyOf(object, 5_000), object)));
    expect(await namesIn(store)).toEqual(objects.sort());
    await store.close();
  });

  test('a bucket that is not there answers no ping', async () => {
    const store = new S3Store(parseS3Address(server().url(`weir-${randomUUID()}`)));
    const error = await failure(store.ping());
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('is not there');
    await store.close();
  });
}

/** A store whose process is killed, or stops. */
export function goneStore(server: () => S3Server): void {
  test('fails what is under way and what is new, and serves again when it is back', async () => {
    const store = await openStore(server());
    const body = bodyOf('any', 100_000);
    const kept = await put(store, body);
    const upload = store.begin(newObject(), body.length, someMeta());
    await upload.write(body.subarray(0, 50_000));
    await server().kill();
    const place = { object: kept.object, offset: 0, length: body.length };
    const under = upload.write(body.subarray(50_000)).then(() => upload.commit(sha256(body)));
    const failures = await Promise.all([
      failure(under),
      failure(put(store, body)),
      failure(readAll(store, place)),
      failure(store.contents(kept.object)),
      failure(store.remove(kept.object)),
      failure(namesIn(store)),
      failure(store.ping()),
      failure(store.prepare()),
    ]);
    for (const error of failures) {
      expect(error).toBeInstanceOf(StoreAway);
      expect(error.cause).toBeDefined();
    }
    await server().restart();
    expect((await readAll(store, place)).equals(body)).toBe(true);
    const again = await put(store, body);
    expect(await namesIn(store)).toEqual([kept.object, again.object].sort());
    await store.close();
  });

  test('fails within the deadlines when it only stops answering', async () => {
    const limits = { responseMs: 300, silenceMs: 300, pingMs: 300 };
    const store = await openStore(server(), limits);
    const body = bodyOf('any', 10_000);
    const { object } = await put(store, body);
    const upload = store.begin(newObject(), body.length, someMeta());
    await upload.write(body);
    await server().pause();
    try {
      const began = performance.now();
      const failures = await Promise.all([
        failure(upload.commit(sha256(body))),
        failure(put(store, body)),
        failure(readAll(store, { object, offset: 0, length: body.length })),
        failure(store.ping()),
      ]);
      for (const error of failures) expect(error).toBeInstanceOf(StoreAway);
      expect(performance.now() - began).toBeLessThan(2_000);
    } finally {
      server().resume();
    }
    expect((await readAll(store, { object, offset: 0, length: 10_000 })).equals(body)).toBe(true);
    await store.close();
  });
}
