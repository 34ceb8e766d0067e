import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArtifactStore, StoreAway } from '../../src/artifacts/artifacts.ts';
import { ApiError } from '../../src/domain/errors.ts';
import { decodeMark, encodeMark } from '../../src/domain/store-mark.ts';
import { MarkKeeper } from '../../src/upkeep/mark-keeper.ts';
import { recover } from '../../src/upkeep/recover.ts';
import { StorePlace } from '../support/store-place.ts';

const everyMs = 10;
const at = Date.now() - 3_600_000;
let place: StorePlace;
let keeper: MarkKeeper;
let said: string[];
let writes: string[];
let away: boolean;
/** It can be read, and takes nothing. */
let full: boolean;

beforeEach(async () => {
  place = await StorePlace.open();
  [said, writes, away, full] = [[], [], false, false];
  const say = (_: object, message: string) => void said.push(message);
  const { artifacts, catalog } = place;
  const store: Pick<ArtifactStore, 'readMark' | 'writeMark'> = {
    async readMark() {
      if (away) throw new StoreAway('gone for a while');
      return artifacts.readMark();
    },
    async writeMark(text) {
      if (full) throw new StoreAway('no space left');
      writes.push(text);
      return artifacts.writeMark(text);
    },
  };
  const log = { info: say, warn: say, error: say };
  keeper = new MarkKeeper({ artifacts: store, upkeep: catalog.upkeep, log });
});

afterEach(async () => {
  await keeper.stop();
  await place.close();
});

async function sequenceInStore(): Promise<number | null> {
  return decodeMark((await place.artifacts.readMark()) ?? '')?.sequence ?? null;
}

async function markAhead(by: number): Promise<void> {
  const { catalogId, sequence } = await place.catalog.upkeep.standing();
  const mark = { catalogId, sequence: sequence + by, recovering: false };
  await place.artifacts.writeMark(encodeMark(mark));
}

test('a new store gets the mark of its catalog at the start', async () => {
  const { catalogId } = await place.catalog.upkeep.standing();
  await keeper.start(everyMs);
  expect(await place.artifacts.readMark()).toBe(
    encodeMark({ catalogId, sequence: 0, recovering: false }),
  );
  expect(keeper.refusal).toBeNull();
  keeper.requireAccepting();
});

test('the mark follows receipts, and is not written while there are none', async () => {
  await keeper.start(everyMs);
  const { sequence } = await place.delivery(at);
  keeper.noteReceipt();
  await expect.poll(sequenceInStore).toBe(sequence);
  const { length } = writes;
  await new Promise((resolve) => setTimeout(resolve, 10 * everyMs));
  expect(writes).toHaveLength(length);
});

test('what was received last is in the mark when the service has stopped', async () => {
  await keeper.start(60_000);
  const { sequence } = await place.delivery(at);
  keeper.noteReceipt();
  await keeper.stop();
  expect(await sequenceInStore()).toBe(sequence);
});

test('a store that is away is told about once, and gets the mark when it is back', async () => {
  await keeper.start(everyMs);
  away = true;
  const { sequence } = await place.delivery(at);
  keeper.noteReceipt();
  await expect.poll(() => said).toEqual(['the mark of the store is not kept']);
  await new Promise((resolve) => setTimeout(resolve, 10 * everyMs));
  expect(said).toHaveLength(1);
  expect(keeper.refusal).toBeNull();
  away = false;
  await expect.poll(sequenceInStore).toBe(sequence);
});

test('a catalog behind its store is refused until it was recovered, then accepted', async () => {
  await place.delivery(at);
  await markAhead(3);
  const forgotten = await place.object(at + 5);
  await keeper.start(everyMs);
  expect(keeper.refusal).toMatch(/older than its artifact store.*`weir recover`/);
  expect(said).toEqual([expect.stringMatching(/no delivery is accepted.*weir recover/)]);
  try {
    keeper.requireAccepting();
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    const { status, code, headers } = error as ApiError;
    expect([status, code, headers]).toEqual([503, 'internal', { 'Retry-After': '60' }]);
  }
  expect(await keeper.storeTime()).toBeNull();
  expect(writes).toEqual([]);

  const { objects } = await recover(place);
  expect(objects).toMatchObject([{ object: forgotten.object, outcome: 'recovered' }]);
  await expect.poll(() => keeper.refusal).toBeNull();
  expect(said).toHaveLength(2);
});

test('a recovery under way is waited for, however far the catalog is', async () => {
  const { sequence } = await place.delivery(at);
  const { catalogId } = await place.catalog.upkeep.standing();
  const mark = { catalogId, sequence: sequence - 1, recovering: true };
  await place.artifacts.writeMark(encodeMark(mark));
  await keeper.start(everyMs);
  expect(keeper.refusal).toMatch(/weir recover/);
  await place.artifacts.writeMark(encodeMark({ ...mark, recovering: false }));
  await expect.poll(() => keeper.refusal).toBeNull();
});

test("another catalog's store ends the start with one line, and keeps its mark", async () => {
  const text = encodeMark({ catalogId: 'another', sequence: 0, recovering: false });
  await place.artifacts.writeMark(text);
  await expect(keeper.start(everyMs)).rejects.toThrow(
    /^the artifact store belongs to another catalog: check WEIR_ARTIFACTS_URL/,
  );
  expect(await place.artifacts.readMark()).toBe(text);
});

test('a catalog that was exchanged for an older one while we run is refused, too', async () => {
  await keeper.start(everyMs);
  await markAhead(5);
  keeper.noteReceipt();
  await expect.poll(() => keeper.refusal).toMatch(/weir recover/);
  expect(await sequenceInStore()).toBe(5);
});

test("tells the store's time", async () => {
  await keeper.start(everyMs);
  expect(Math.abs((await keeper.storeTime())! - Date.now())).toBeLessThan(5_000);
});

test('a full store keeps no start waiting, and gets the mark when there is room', async () => {
  full = true;
  await keeper.start(everyMs);
  keeper.requireAccepting();
  expect(said).toEqual(['the mark of the store is not kept']);
  full = false;
  await expect.poll(sequenceInStore).toBe(0);
});
