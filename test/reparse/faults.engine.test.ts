import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ParseLoop } from '../../src/parse/loop.ts';
import { InsertBatcher } from '../../src/samples/batcher.ts';
import { claimFor, store as record } from '../catalog/support.ts';
import { seedOf } from '../support/seed.ts';
import { type Faults, faulty, fieldsOf, parse, personalOf, randomOf } from './model.ts';
import { expectRebuilt, openStores, type Stores, seedSources } from './support.ts';

/**
 * Two loops on one catalog and one sample store, as two processes have them. Calls are slow, fail
 * before or after they did their work; one loop dies and is replaced again and again, the other
 * stalls for longer than its leases last. Meanwhile deliveries are accepted, parsed again under
 * other versions, and withdrawn. Then all is quiet, and the samples are those of a rebuild.
 */
const seed = seedOf('reparse faults');
const runMs = 12_000;
const began = Date.now();
/** Time passes faster for them than here: a lease of 15 s lasts 300 ms, and 5 s in the end. */
let pace = { from: began, at: began, speed: 50 };
const clock = () => pace.at + (Date.now() - pace.from) * pace.speed;
const slowDown = () => {
  pace = { from: Date.now(), at: clock(), speed: 3 };
};
const sources = 3;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores?.close());

const calm: Faults = { percent: 0, delayMs: 0, stallMs: 0, dead: false };

function startLoop(faults: Faults, random: ReturnType<typeof randomOf>): ParseLoop {
  const pool = {
    ...{ threads: 1, close: async () => {} },
    run: async (task: Parameters<typeof parse>[0]) => ({ outcomes: parse(task) }),
  };
  const { store, catalog } = stores;
  const { queue, reparses } = catalog;
  const rows = new InsertBatcher({ store, waitMs: 5 });
  const log = { warn: () => {}, error: () => {} };
  const parts = { queue, reparses, samples: store, rows, pool, clock, log };
  const loop = new ParseLoop(faulty(parts, random, faults));
  loop.start();
  return loop;
}

test(`after any faults the samples are those of a rebuild (WEIR_TEST_SEED=${seed})`, async () => {
  const random = randomOf(seed);
  const sourceIds = await seedSources(stores, sources);

  const stalling: Faults = { percent: 5, delayMs: 10, stallMs: 700, dead: false };
  const second = startLoop(stalling, random);
  let dying: Faults = { percent: 5, delayMs: 10, stallMs: 0, dead: false };
  let first = startLoop(dying, random);
  const done = { accepted: 0, again: 0, saved: 0, withdrawn: 0, deaths: 0 };
  const loops = () => [first, second];
  for (let step = 1; Date.now() < began + runMs; step++) {
    await act(random, sourceIds, done);
    for (const loop of loops()) loop.wake();
    // Also on a machine that is so busy that there are few steps.
    if (step % 40 === 0 || random(60) === 0) {
      dying.dead = true;
      dying = { ...dying, dead: false };
      first = startLoop(dying, random);
      done.deaths += 1;
    }
    await sleep(random(20));
  }
  slowDown();
  Object.assign(dying, calm);
  Object.assign(stalling, calm);
  await quiet(loops());
  await Promise.all(loops().map((loop) => loop.stop()));

  console.log(`reparse model: ${JSON.stringify(done)}`);
  for (const [what, many] of Object.entries(done)) expect([what, many > 0]).toEqual([what, true]);
  let stood = 0;
  for (const sourceId of sourceIds) stood += await expectRebuilt(stores, sourceId);
  expect(stood).toBeGreaterThan(3 * sources);
}, 180_000);

async function act(
  random: ReturnType<typeof randomOf>,
  sourceIds: readonly string[],
  done: Record<'accepted' | 'again' | 'saved' | 'withdrawn', number>,
): Promise<void> {
  const { catalog } = stores;
  const sourceId = sourceIds[random(sources)]!;
  const source = (await catalog.directory.source(sourceId))!;
  const someVersion = 1 + random(source.shapeVersion);
  const what = random(20);
  if (what < 9) {
    const sandbox = random(4) === 0;
    const shapeVersion = random(2) === 0 ? source.shapeVersion : someVersion;
    await record(catalog, claimFor(sourceId, { sandbox, shapeVersion, receivedAt: clock() }));
    done.accepted += 1;
  } else if (what < 18) {
    const list = await catalog.deliveries.list(sourceId, { limit: 1_000 });
    const some = list.filter(() => random(12) === 0).map((one) => one.artifactId);
    const version = random(3) === 0 ? {} : { shapeVersion: someVersion };
    const begun = await catalog.reparses.begin({ artifactIds: some, ...version }, clock());
    done.again += begun.length;
  } else if (what === 18 && random(2) === 0) {
    const fields = fieldsOf(source.shapeVersion + 1, personalOf(random));
    const saved = await catalog.directory.saveSource(sourceId, { fields, savedBy: 't' }, clock());
    done.saved += 1;
    done.withdrawn += saved.withdrawn?.deliveries ?? 0;
  }
}

async function quiet(loops: readonly ParseLoop[]): Promise<void> {
  const { queue } = stores.catalog;
  const end = Date.now() + 80_000;
  while ((await queue.backlog()).deliveries > 0) {
    expect(Date.now(), 'the backlog is worked off').toBeLessThan(end);
    for (const loop of loops) loop.wake();
    await sleep(20);
  }
}
