import { afterEach, beforeEach, expect, test } from 'vitest';
import { countOrphans } from '../../src/upkeep/orphans.ts';
import { namesIn } from '../artifacts/bodies.ts';
import { quiet, type StoredObject, StorePlace } from '../support/store-place.ts';

const day = 86_400_000;
const now = Date.now();
let place: StorePlace;
let known: StoredObject[];
let told: { orphans: number[]; removed: number };

beforeEach(async () => {
  place = await StorePlace.open();
  known = [await place.delivery(now - 40 * day), await place.delivery(now - day)];
  await place.storedAt(known[0]!.object, now - 40 * day);
  told = { orphans: [], removed: 0 };
});
afterEach(() => place.close());

/** @param storeTime null: the catalog is behind */
function count(storeTime: number | null = now): Promise<number> {
  const parts = {
    artifacts: place.artifacts,
    catalog: place.catalog,
    keeper: { storeTime: async () => storeTime },
    clock: () => now + 10 * 60_000,
    log: quiet,
    metrics: {
      orphans: (orphans: number) => void told.orphans.push(orphans),
      orphansRemoved: (removed: number) => {
        told.removed += removed;
      },
    },
  };
  return countOrphans(parts, new AbortController().signal);
}

async function orphan(receivedAt: number, storedAt: number): Promise<string> {
  const { object } = await place.object(receivedAt);
  await place.storedAt(object, storedAt);
  return object;
}

test('objects that no delivery refers to are counted', async () => {
  expect(await count()).toBe(0);
  for (let n = 0; n < 3; n++) await orphan(now - 2 * day, now - 2 * day);
  expect(await count()).toBe(3);
  expect(told).toEqual({ orphans: [0, 3], removed: 0 });
});

test('one whose receipt may be on its way is not', async () => {
  await orphan(now, now + 10 * 60_000 - 1_000);
  expect(await count()).toBe(0);
});

test("those older than 30 days by the store's clock are removed, and nothing else", async () => {
  const expired = await orphan(now - 31 * day, now - 30 * day - 1_000);
  const young = await orphan(now - 31 * day, now - 30 * day + 1_000);
  expect(await count()).toBe(1);
  const objects = await namesIn(place.artifacts);
  expect(objects).toEqual([...known.map(({ object }) => object), young].sort());
  expect(objects).not.toContain(expired);
  expect(told).toEqual({ orphans: [1], removed: 1 });
  // By our clock it would be older by now.
  expect(await count(now)).toBe(1);
  expect(await count(now + 2_000)).toBe(0);
});

test('nothing is removed while the catalog is behind its store', async () => {
  await orphan(now - 31 * day, now - 31 * day);
  expect(await count(null)).toBe(1);
  expect(told.removed).toBe(0);
  expect(await count()).toBe(0);
});

test('nothing is removed while the store holds something newer than every delivery', async () => {
  await orphan(now - 31 * day, now - 31 * day);
  await orphan(now - 1_000, now - 1_000);
  expect(await count()).toBe(2);
  expect(told.removed).toBe(0);
  await place.delivery(now);
  expect(await count()).toBe(1);
  expect(told.removed).toBe(1);
});

test('a segment is an orphan when no delivery refers to any of it, and only then', async () => {
  const old = now - 31 * day;
  const [used] = await place.segment([{ receivedAt: old }, { receivedAt: old }]);
  const [unused] = await place.segment([{ receivedAt: old }, { receivedAt: old }]);
  for (const { object } of [used!, unused!]) await place.storedAt(object, old);
  await place.record(used!);
  expect(await count()).toBe(0);
  expect(told.removed).toBe(1);
  const objects = await namesIn(place.artifacts);
  expect(objects).toContain(used!.object);
  expect(objects).not.toContain(unused!.object);
});

test('more objects than one question holds are all judged', async () => {
  for (let n = 0; n < 1_050; n++) await place.object(now - 2 * day);
  expect(await count()).toBe(1_050);
});
