import { truncate, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { limits } from '../../src/domain/limits.ts';
import { decodeMark, encodeMark, judgeMark, type StoreMark } from '../../src/domain/store-mark.ts';
import { recover } from '../../src/upkeep/recover.ts';
import { type StoredObject, StorePlace } from '../support/store-place.ts';

let place: StorePlace;
const hour = 3_600_000;
/** Times lie in the past: the store's own clock gives today to what is stored. */
const at = Date.now() - hour;

beforeEach(async () => {
  place = await StorePlace.open();
});
afterEach(() => place.close());

/** Leaves a mark as a catalog that knew more has left it. */
async function markAhead(sequence: number): Promise<string> {
  const { catalogId } = await place.catalog.upkeep.standing();
  await place.artifacts.writeMark(encodeMark({ catalogId, sequence, recovering: false }));
  return catalogId;
}

async function markNow(): Promise<StoreMark | null> {
  return decodeMark((await place.artifacts.readMark()) ?? '');
}

async function fitNow() {
  return judgeMark(await place.artifacts.readMark(), await place.catalog.upkeep.standing());
}

const brief = (objects: Awaited<ReturnType<typeof recover>>['objects']) =>
  objects.map(({ object, outcome, reason }) => [object, outcome, reason]);

test('deliveries come back in the order in which they were received, as they were', async () => {
  await place.delivery(at);
  const stored = [];
  for (const later of [30, 10, 20]) stored.push(await place.object(at + later));
  stored.sort((a, b) => a.meta.receivedAt - b.meta.receivedAt);
  await markAhead(4);
  const { behind, objects } = await recover(place);
  expect(behind).toBe(true);
  expect(brief(objects)).toEqual(stored.map(({ object }) => [object, 'recovered', null]));
  const list = await place.catalog.deliveries.list(place.sourceId, { limit: 10 });
  const expected = stored.map(({ object, meta, sha256, bytes }) => ({
    ...{ artifactId: meta.artifactId, receivedAt: meta.receivedAt, status: 'queued', bytes },
    ...{ sha256: sha256.toString('hex'), receiptShapeVersion: meta.shapeVersion },
    ...{ delivery: meta.delivery, mediaType: meta.mediaType, encoding: meta.encoding },
    place: { object, offset: 0, length: bytes },
  }));
  expect(list.toReversed().slice(1)).toMatchObject(expected);
  for (const { meta } of stored) {
    const keys = await place.catalog.deliveries.idempotencyKeys(meta.artifactId);
    expect(keys).toEqual([meta.idempotencyKey]);
  }
  expect(await fitNow()).toBe('fits');
  expect(await markNow()).toMatchObject({ sequence: list[0]!.sequence, recovering: false });
});

test('sequences go on above whatever was given before, also when nothing comes back', async () => {
  const { sequence } = await place.delivery(at);
  await markAhead(sequence + 500);
  expect((await recover(place)).objects).toEqual([]);
  expect(await fitNow()).toBe('fits');
  const next = await place.delivery(at + 1);
  expect(next.sequence).toBeGreaterThanOrEqual(sequence + 500 + limits.recoverSequenceGap);
});

test('a known key and known bytes are told as duplicates and change nothing', async () => {
  const known = await place.delivery(at);
  const { artifactId } = known.meta;
  const sameKey = await place.object(at + 1, { idempotencyKey: known.meta.idempotencyKey });
  const body = Buffer.from(`the body of ${artifactId}`);
  const other = await place.object(at + 2);
  const sameBody = await place.put({ ...other.meta, artifactId: crypto.randomUUID() }, body);
  await place.artifacts.remove(other.object);
  await markAhead(3);
  const { objects } = await recover(place);
  expect(new Map(objects.map((one) => [one.object, one.reason]))).toEqual(
    new Map([
      [sameKey.object, `its idempotency key has the receipt ${artifactId}`],
      [sameBody.object, `its body has the receipt ${artifactId}`],
    ]),
  );
  expect(objects.every((one) => one.outcome === 'duplicate')).toBe(true);
  expect(await place.catalog.deliveries.list(place.sourceId, { limit: 9 })).toHaveLength(1);
});

describe('what cannot come back is told with the reason, and keeps nothing else back', () => {
  test('sources and versions that the catalog does not know', async () => {
    const lost = await place.object(at, { sourceId: place.strangeSource() });
    const version = await place.object(at + 1, { shapeVersion: 2 });
    const good = await place.object(at + 2);
    await markAhead(3);
    expect(brief((await recover(place)).objects)).toEqual([
      [lost.object, 'failed', 'the catalog does not know its source'],
      [version.object, 'failed', 'the catalog does not know shape version 2 of its source'],
      [good.object, 'recovered', null],
    ]);
    expect(await fitNow()).toBe('fits');
  });

  test('bytes and metadata that were damaged', async () => {
    const bit = await place.object(at);
    const short = await place.object(at + 1);
    const meta = await place.object(at + 2);
    const moved = await place.object(at + 3);
    const odd = await place.object(at + 4, { sourceId: 'no uuid' });
    await place.flipBit(bit.object);
    await truncate(place.path(short.object), 3);
    await writeFile(`${place.path(meta.object)}.json`, '{');
    const strange = JSON.stringify({ ...moved.meta, artifactId: bit.meta.artifactId });
    await writeFile(`${place.path(moved.object)}.json`, strange);
    await markAhead(3);
    expect(brief((await recover(place)).objects)).toEqual([
      [bit.object, 'failed', 'the stored bytes are not those that were received'],
      [short.object, 'failed', 'the stored bytes are not those that were received'],
      [meta.object, 'failed', `the metadata of ${meta.object} is damaged`],
      [moved.object, 'failed', 'its metadata is of another object'],
      [odd.object, 'failed', 'An id is a uuid.'],
    ]);
  });
});

test('old orphans are of crashes: they stay where they are', async () => {
  const { receivedAt } = (await place.delivery(at)).meta;
  const before = await place.object(receivedAt - 1);
  await place.storedAt(before.object, receivedAt - limits.recoverClocksDifferMs);
  const after = await place.object(receivedAt - 1);
  await markAhead(2);
  expect(brief((await recover(place)).objects)).toEqual([[after.object, 'recovered', null]]);
});

test('a recovery that was cut short keeps the catalog behind until it is finished', async () => {
  const stored: StoredObject[] = [];
  for (let n = 0; n < limits.recoverAtOnce + 5; n++) stored.push(await place.object(at + n));
  await markAhead(2);
  const { artifacts, catalog } = place;
  const failing: typeof artifacts = Object.assign(Object.create(artifacts), {
    ...{ list: () => artifacts.list(), readMark: () => artifacts.readMark() },
    writeMark: (text: string) => artifacts.writeMark(text),
    read: (at: Parameters<typeof artifacts.read>[0]) => artifacts.read(at),
    async contents(object: string) {
      if (object === stored.at(-1)!.object) throw new StoreAway('gone for a while');
      return artifacts.contents(object);
    },
  });
  await expect(recover({ artifacts: failing, catalog })).rejects.toThrow(StoreAway);
  // Some are in the catalog, whose sequence is above that of the mark by now.
  expect((await catalog.upkeep.standing()).sequence).toBeGreaterThan(2);
  expect(await fitNow()).toBe('behind');
  const { behind, objects } = await recover(place);
  expect(behind).toBe(true);
  expect(brief(objects)).toEqual(stored.slice(-5).map((one) => [one.object, 'recovered', null]));
  expect(await fitNow()).toBe('fits');
  const list = await catalog.deliveries.list(place.sourceId, { limit: 100 });
  expect(list.toReversed().map((one) => one.place.object)).toEqual(stored.map((s) => s.object));
});

test('a damaged mark is written anew', async () => {
  await place.delivery(at);
  await place.artifacts.writeMark('?');
  expect(await recover(place)).toEqual({ behind: true, objects: [] });
  expect(await fitNow()).toBe('fits');
});

test('a catalog that is not behind gets what it has lost of the last moment, no more', async () => {
  expect(await recover(place)).toEqual({ behind: false, objects: [] });
  expect(await place.artifacts.readMark()).toBeNull();
  const { sequence } = await place.delivery(at);
  await markAhead(sequence);
  const tail = await place.object(at + 1);
  const { behind, objects } = await recover(place);
  expect(behind).toBe(false);
  expect(brief(objects)).toEqual([[tail.object, 'recovered', null]]);
  expect(await recover(place)).toEqual({ behind: false, objects: [] });
  expect(await markNow()).toMatchObject({ sequence, recovering: false });
});

test("another catalog's store is left as it is", async () => {
  const text = encodeMark({ catalogId: 'b', sequence: 5, recovering: false });
  await place.artifacts.writeMark(text);
  await place.object(at);
  await expect(recover(place)).rejects.toThrow(/belongs to another catalog/);
  expect(await place.artifacts.readMark()).toBe(text);
  expect(await place.catalog.deliveries.list(place.sourceId, { limit: 9 })).toEqual([]);
});
