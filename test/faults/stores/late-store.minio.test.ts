import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreAway } from '../../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../../src/artifacts/open.ts';
import { parseS3Address } from '../../../src/artifacts/s3/address.ts';
import { S3Store } from '../../../src/artifacts/s3/store.ts';
import { bodyOf, failure, put, readAll } from '../../artifacts/bodies.ts';
import { putSegment, wholeBodies } from '../../artifacts/segments.ts';
import { type Minio, minioOrSkip, startMinio } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { type LyingStore, startLyingStore } from './lying-store.ts';

const lateMs = 1_500;
const limits = { responseMs: 800, atOnce: 1, wholeAtOnce: 1, waitMs: 10_000 };

describeWith('a store that keeps what it gets', await minioOrSkip(), () => {
  let minio: Minio;
  let lying: LyingStore;
  let store: S3Store;

  beforeAll(async () => {
    minio = await startMinio();
    lying = await startLyingStore(minio.port, lateMs);
    const url = minio.url('late').replace(`:${minio.port}/`, `:${lying.port}/`);
    store = new S3Store(parseS3Address(url), limits);
    await store.prepare();
  });
  afterAll(async () => {
    await store.close();
    await lying.stop();
    await minio.stop();
  });

  const kinds: readonly { kind: string; upload: () => Promise<unknown> }[] = [
    { kind: 'a document', upload: () => put(store, bodyOf('a document', 300_000)) },
    { kind: 'a segment', upload: () => putSegment(store, wholeBodies(3)) },
  ];
  const cases = kinds.flatMap((one) =>
    (['keeps it and never answers', 'keeps it and answers late'] as const).map((lie) => ({
      ...one,
      ...{ lie, how: lie.includes('late') ? 'after its time' : 'never' },
    })),
  );

  test.each(cases)(
    'and answers $how fails $kind in time, and not those that follow',
    async ({ lie, upload }) => {
      await upload();
      lying.lie(lie);
      // More than have their turn at once: each must give it back.
      for (let n = 0; n < 2; n++) {
        const began = performance.now();
        const error = await failure(upload());
        expect(error).toBeInstanceOf(StoreAway);
        expect(error.message).toContain('no answer within 800 ms');
        expect(performance.now() - began).toBeLessThan(5_000);
      }
      expect(lying.told()).toBe(2);
      lying.lie(null);
      await Promise.all(Array.from({ length: 8 }, upload));
      // Answers to those that were given up come now, and reach nobody.
      await sleep(lateMs);
      await upload();
    },
  );

  test('leaves every object whole, also those whose answer nobody got', async () => {
    const direct = openArtifacts(minio.url('late'));
    try {
      let objects = 0;
      for await (const { object, bytes, isSegment } of direct.list()) {
        objects += 1;
        if (isSegment) {
          expect(await direct.contents(object)).toHaveLength(3);
        } else {
          const stored = await readAll(direct, { object, offset: 0, length: bytes });
          expect(stored.equals(bodyOf('a document', 300_000))).toBe(true);
        }
      }
      expect(objects).toBeGreaterThanOrEqual(4 * 10);
    } finally {
      await direct.close();
    }
  });
});
