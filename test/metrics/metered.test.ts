import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimOf } from '../../src/accept/keep.ts';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import {
  meteredInserts,
  meteredLedger,
  meteredPool,
  meteredUploads,
} from '../../src/metrics/metered.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import type { ParseAnswer, ParsedDelivery, ParseTask } from '../../src/parse/messages.ts';
import { newObject, sha256 } from '../artifacts/bodies.ts';
import { someMeta } from '../artifacts/some-meta.ts';
import { StorePlace } from '../support/store-place.ts';

let told: unknown[][];
/** Notes every call by its name and arguments, but for durations. */
const metrics = new Proxy({} as Metrics, {
  get:
    (_, name) =>
    (...args: unknown[]) =>
      void told.push([name, ...args]),
});
let place: StorePlace;

beforeEach(async () => {
  told = [];
  place = await StorePlace.open();
});
afterEach(() => place.close());

test('receipts are told by their kind, conflicts beside', async () => {
  const ledger = meteredLedger(place.catalog.ledger, metrics);
  const { meta, sha256: hash, place: at, bytes } = await place.object(Date.now());
  const claim = claimOf(meta, at, hash);
  expect(await ledger.record(claim)).toMatchObject({ outcome: 'stored' });
  expect(await ledger.record(claim)).toMatchObject({ outcome: 'replayed' });
  await ledger.replay({ ...claim, idempotencyKey: 'another' }, 1);
  await ledger.replay({ ...claim, sha256: Buffer.alloc(32) }, 1);
  expect(await ledger.replay({ ...claim, ...unknown() }, 1)).toBeNull();
  await expect(ledger.record({ ...claim, ...unknown(), shapeVersion: 9 })).rejects.toThrow();
  expect(told).toEqual([
    ['stored', 'push', bytes],
    ['replayed', 'key'],
    ['replayed', 'body'],
    ['replayed', 'key'],
    ['conflict'],
  ]);
});

const unknown = () => ({ idempotencyKey: 'unknown', sha256: Buffer.alloc(32, 1) });

test('uploads that fail are told once, those that were given up not at all', async () => {
  const artifacts = meteredUploads(place.artifacts, metrics);
  const body = Buffer.from('abc');
  const begin = () => artifacts.begin(newObject(), 3, someMeta());
  const good = begin();
  await good.write(body);
  await good.commit(sha256(body));
  const givenUp = begin();
  await givenUp.abort();
  await expect(givenUp.write(body)).rejects.toThrow(StoreAway);
  expect(told).toEqual([]);

  const failing = meteredUploads(
    Object.assign(Object.create(place.artifacts), {
      begin: () => ({
        write: () => Promise.reject(new StoreAway('full')),
        commit: () => Promise.reject(new StoreAway('full')),
        abort: async () => {},
      }),
    }),
    metrics,
  );
  const upload = failing.begin(newObject(), 3, someMeta());
  await expect(upload.write(body)).rejects.toThrow(StoreAway);
  await expect(upload.commit(sha256(body))).rejects.toThrow(StoreAway);
  expect(told).toEqual([['uploadFailed']]);
});

test('a store that is told about keeps the rest of its contract', async () => {
  const artifacts = meteredUploads(place.artifacts, metrics);
  const { object, meta } = await place.object(Date.now());
  expect(artifacts.kind).toBe('files');
  expect(await artifacts.contents(object)).toMatchObject([{ meta }]);
  await artifacts.ping();
});

test('inserts are told with their bytes when they are durable', async () => {
  const rows = { samples: [Buffer.alloc(3)], reparsed: [Buffer.alloc(2)], rejections: [] };
  await meteredInserts({ insert: async () => {} }, metrics).insert(rows);
  expect(told).toEqual([['inserted', 5, expect.any(Number)]]);
  const away = { insert: () => Promise.reject(new Error('away')) };
  await expect(meteredInserts(away, metrics).insert(rows)).rejects.toThrow('away');
  expect(told).toHaveLength(1);
});

test('a wrong accounting is logged with its delivery', async () => {
  const counts = { records: 2, parsed: 1, rejected: 1, samples: 1, blank: 0, supersededWithin: 0 };
  const done = { kind: 'done', status: 'parsed', counts, valuesSeen: 1 } as const;
  const outcomes = [done, { kind: 'unreadable', reason: 'r' }, { ...done, valuesSeen: 2 }];
  const errors: object[] = [];
  const pool = meteredPool(
    {
      threads: 1,
      run: async (...args: unknown[]) => ({ outcomes, args }) as unknown as ParseAnswer,
    },
    metrics,
    { error: (fields) => void errors.push(fields) },
  );
  const deliveries = ['a', 'b', 'c'].map((artifactId) => ({ artifactId }));
  const answer = await pool.run({ deliveries } as unknown as ParseTask);
  expect(answer.outcomes).toBe(outcomes);
  // Whatever else a pool takes is handed on.
  const more = await pool.run({ deliveries } as unknown as ParseTask, 'more');
  expect(more).toMatchObject({ args: [{ deliveries }, 'more'] });
  expect(pool.threads).toBe(1);
  const parsed = told.find(([name]) => name === 'parsed')![1] as ParsedDelivery[];
  expect(parsed.map(({ valuesSeen }) => valuesSeen)).toEqual([1, 2]);
  expect(errors[0]).toEqual({ artifactId: 'c', counts, valuesSeen: 2 });
  expect(told[0]).toEqual(['storeFailed', 'artifacts']);
});
