import { truncate } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { recover } from '../../src/upkeep/recover.ts';
import { type StoredObject, StorePlace } from '../support/store-place.ts';

let place: StorePlace;
const at = Date.now() - 3_600_000;

beforeEach(async () => {
  place = await StorePlace.open();
});
afterEach(() => place.close());

async function outcomes() {
  const { objects } = await recover(place);
  return objects.map(({ artifactId, outcome, reason }) => [artifactId, outcome, reason]);
}

const idOf = ({ meta }: StoredObject) => meta.artifactId;
const cameBack = (stored: StoredObject) => [idOf(stored), 'recovered', null];

test('each delivery of a segment comes back as it was, in the order of reception', async () => {
  const shared = await place.segment([20, 5, 10].map((later) => ({ receivedAt: at + later })));
  const between = await place.object(at + 7);
  const order = [shared[1]!, between, shared[2]!, shared[0]!];
  expect(await outcomes()).toEqual(order.map(cameBack));
  const list = await place.catalog.deliveries.list(place.sourceId, { limit: 10 });
  expect(list.toReversed()).toMatchObject(
    order.map(({ meta, place: expected, sha256, bytes }) => ({
      ...{ artifactId: meta.artifactId, receivedAt: meta.receivedAt, bytes },
      ...{ place: expected, sha256: sha256.toString('hex') },
    })),
  );
  expect(await outcomes()).toEqual([]);
});

test('those that the catalog does not know come back, and only those', async () => {
  const shared = await place.segment(Array.from({ length: 5 }, (_, n) => ({ receivedAt: at + n })));
  for (const known of [shared[1]!, shared[3]!]) await place.record(known);
  const forgotten = [0, 2, 4].map((n) => shared[n]!);
  expect(await outcomes()).toEqual(forgotten.map(cameBack));
  const list = await place.catalog.deliveries.list(place.sourceId, { limit: 10 });
  expect(list).toHaveLength(5);
  expect(await outcomes()).toEqual([]);
});

test('a segment of more than one question comes back whole', async () => {
  const count = 2 * limits.recoverAtOnce + 3;
  const shared = await place.segment(
    Array.from({ length: count }, (_, n) => ({ receivedAt: at + n })),
  );
  expect(await outcomes()).toEqual(shared.map(cameBack));
});

describe('what cannot come back is told with the reason, and keeps nothing else back', () => {
  test('a body that is changed, one of a strange source, and a known key', async () => {
    const known = await place.delivery(at - 1);
    const { idempotencyKey } = known.meta;
    const shared = await place.segment([
      { receivedAt: at },
      { receivedAt: at + 1, over: { sourceId: place.strangeSource() } },
      { receivedAt: at + 2, over: { idempotencyKey } },
      { receivedAt: at + 3 },
    ]);
    const [changed, strange, twice, good] = shared.map(idOf);
    await place.flipBit(shared[0]!.object, shared[0]!.place.offset);
    expect(await outcomes()).toEqual([
      [changed, 'failed', 'the stored bytes are not those that were received'],
      [strange, 'failed', 'the catalog does not know its source'],
      [twice, 'duplicate', `its idempotency key has the receipt ${idOf(known)}`],
      [good, 'recovered', null],
    ]);
  });

  test('a segment whose index is damaged or cut off', async () => {
    const [bit] = await place.segment([{ receivedAt: at }, { receivedAt: at }]);
    const [cut] = await place.segment([{ receivedAt: at + 1 }, { receivedAt: at + 1 }]);
    const [good] = await place.segment([{ receivedAt: at + 2 }]);
    await place.flipBit(bit!.object, bit!.bytes * 2 + 10);
    await truncate(place.path(cut!.object), cut!.bytes * 2 + 10);
    expect(await outcomes()).toEqual([
      [null, 'failed', `the index of ${bit!.object} is damaged: its hash is another`],
      [null, 'failed', expect.stringContaining(`the index of ${cut!.object} is damaged`)],
      cameBack(good!),
    ]);
  });
});
