import { rm, truncate } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { limits } from '../../src/domain/limits.ts';
import { type ScrubParts, scrubBatch, startScrubber } from '../../src/upkeep/scrubber.ts';
import { type StoredObject, StorePlace } from '../support/store-place.ts';

const at = Date.now() - 3_600_000;
const { signal } = new AbortController();
let place: StorePlace;
let stored: StoredObject[];
let errors: object[];
let scrubbed: number;
let now: number;

beforeEach(async () => {
  place = await StorePlace.open();
  stored = [];
  for (let n = 0; n < 3; n++) stored.push(await place.delivery(at + n));
  [errors, scrubbed, now] = [[], 0, at];
});
afterEach(() => place.close());

function parts(over: Partial<ScrubParts> = {}): ScrubParts {
  return {
    artifacts: place.artifacts,
    catalog: place.catalog,
    clock: () => now,
    log: { warn() {}, error: (fields) => void errors.push(fields) },
    metrics: {
      scrubbed: (bytes) => {
        scrubbed += bytes;
      },
    },
    ...{ bytesASecond: 1e9, refusedWaitMs: 1 },
    ...over,
  };
}

const damage = ({ meta }: StoredObject) => place.catalog.upkeep.damage(meta.artifactId);

test('sound artifacts are checked once a round', async () => {
  expect(await scrubBatch(parts(), signal)).toBe(3);
  expect(await scrubBatch(parts(), signal)).toBe(0);
  now += limits.scrubRoundMs - 1;
  expect(await scrubBatch(parts(), signal)).toBe(0);
  now += 1;
  expect(await scrubBatch(parts(), signal)).toBe(3);
  expect(scrubbed).toBe(2 * stored.reduce((sum, { bytes }) => sum + bytes, 0));
  expect(errors).toEqual([]);
  expect(await place.catalog.upkeep.damagedCount()).toBe(0);
});

describe('deliveries that share a segment', () => {
  test('are read together, and each is judged by its own bytes', async () => {
    const shared = await place.segment(Array.from({ length: 5 }, () => ({ receivedAt: at })));
    for (const one of shared) await place.record(one);
    const { object } = shared[0]!;
    await place.flipBit(object, shared[2]!.place.offset);
    let reads = 0;
    const counting: ScrubParts['artifacts'] = {
      ping: () => place.artifacts.ping(),
      read(wanted) {
        if (wanted.object === object) reads += 1;
        return place.artifacts.read(wanted);
      },
    };
    expect(await scrubBatch(parts({ artifacts: counting }), signal)).toBe(8);
    // One for all of them, and a second look at what seems damaged.
    expect(reads).toBe(2);
    expect(await Promise.all(shared.map(damage))).toEqual([null, null, 'changed', null, null]);
    expect(errors).toEqual([{ artifactId: shared[2]!.meta.artifactId, object, damage: 'changed' }]);
  });

  test('that is cut off lose what lay behind the cut, and no more', async () => {
    const shared = await place.segment(Array.from({ length: 3 }, () => ({ receivedAt: at })));
    for (const one of shared) await place.record(one);
    await truncate(place.path(shared[0]!.object), shared[2]!.place.offset + 1);
    await scrubBatch(parts(), signal);
    expect(await Promise.all(shared.map(damage))).toEqual([null, null, 'missing']);
  });
});

describe('damage', () => {
  test('of one bit is found, named and remembered', async () => {
    await place.flipBit(stored[1]!.object);
    await scrubBatch(parts(), signal);
    const { object, meta } = stored[1]!;
    expect(errors).toEqual([{ artifactId: meta.artifactId, object, damage: 'changed' }]);
    expect(await Promise.all(stored.map(damage))).toEqual([null, 'changed', null]);
    expect(await place.catalog.upkeep.damagedCount()).toBe(1);
  });

  test('is taken back when the artifact was restored from a copy', async () => {
    await place.flipBit(stored[0]!.object);
    await scrubBatch(parts(), signal);
    await place.flipBit(stored[0]!.object);
    now += limits.scrubRoundMs;
    await scrubBatch(parts(), signal);
    expect(await place.catalog.upkeep.damagedCount()).toBe(0);
  });

  test('can be that nothing is there', async () => {
    await rm(place.path(stored[2]!.object));
    await scrubBatch(parts(), signal);
    expect(await damage(stored[2]!)).toBe('missing');
  });
});

test('an artifact that was damaged on its way is well when it comes whole', async () => {
  let reads = 0;
  const flipping: ScrubParts['artifacts'] = {
    ping: () => place.artifacts.ping(),
    async read(wanted) {
      reads += 1;
      if (reads > 1) return place.artifacts.read(wanted);
      return Readable.from([Buffer.alloc(wanted.length)]);
    },
  };
  expect(await scrubBatch(parts({ artifacts: flipping }), signal)).toBe(3);
  expect(reads).toBe(4);
  expect(errors).toEqual([]);
  expect(await place.catalog.upkeep.damagedCount()).toBe(0);
});

test('what a store refuses while it answers is named, and the next are checked', async () => {
  const refusing: ScrubParts['artifacts'] = {
    ping: () => place.artifacts.ping(),
    read: (wanted) =>
      wanted.object === stored[0]!.object
        ? Promise.reject(new StoreAway('slow down'))
        : place.artifacts.read(wanted),
  };
  expect(await scrubBatch(parts({ artifacts: refusing }), signal)).toBe(3);
  expect(await Promise.all(stored.map(damage))).toEqual(['unreadable', null, null]);
  const { object, meta } = stored[0]!;
  expect(errors).toEqual([{ artifactId: meta.artifactId, object, damage: 'unreadable' }]);
});

test('a store that is away says nothing about its artifacts', async () => {
  const gone = () => Promise.reject(new StoreAway('gone for a while'));
  const away: ScrubParts['artifacts'] = { read: gone, ping: gone };
  const stop = startScrubber(parts({ artifacts: away }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await stop();
  expect(await place.catalog.upkeep.damagedCount()).toBe(0);
  expect(errors).toEqual([]);
  expect(scrubbed).toBe(0);
});

test('the rate is bounded, small artifacts counting as larger ones', async () => {
  const began = performance.now();
  const bytesASecond = 10 * limits.scrubObjectBytesMin;
  expect(await scrubBatch(parts({ bytesASecond }), signal)).toBe(3);
  expect(performance.now() - began).toBeGreaterThan(290);
});

test('a stop does not wait for the next artifact', async () => {
  const stop = startScrubber(parts({ bytesASecond: 1 }));
  await expect.poll(() => scrubbed).toBeGreaterThan(0);
  const began = performance.now();
  await stop();
  expect(performance.now() - began).toBeLessThan(1_000);
});
