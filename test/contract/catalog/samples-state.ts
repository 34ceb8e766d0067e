import { beforeEach, expect, it } from 'vitest';
import type { Catalog, Job } from '../../../src/catalog/catalog.ts';
import { limits } from '../../../src/domain/limits.ts';
import { claimFor, newKey, seedSource, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';
import { drain, parsed, want } from './queue.ts';

const now = 60_000;
const leaseMs = 1_000;

/** What is told of the samples of a key's source (`samples-state.ts`). */
export function samplesStateContract(on: Subject): void {
  beforeEach(() => drain(on.catalog));

  it('rises when an outcome takes effect, for its source alone, over two handles', async () => {
    const other = await on.another();
    const [one, two] = [await seeded(on.catalog), await seeded(on.catalog)];
    const before = { one: await one.version(), two: await two.version(other) };
    const job = await one.claimed();
    expect(await one.version()).toBe(before.one);
    await on.catalog.queue.complete([parsed(job)], now);
    const after = await one.version(other);
    expect(after).toBeGreaterThan(before.one);
    expect(await two.version(other)).toBe(before.two);
    await on.catalog.queue.complete([parsed(await one.claimed())], now);
    expect(await one.version()).toBeGreaterThan(after);
  });

  it('rises once for outcomes that take effect together', async () => {
    const source = await seeded(on.catalog);
    const before = await source.version();
    const jobs = [await source.claimed(), await source.claimed()];
    const completeAll = (all: Job[]) =>
      on.catalog.queue.complete(
        all.map((job) => parsed(job)),
        now,
      );
    await completeAll(jobs);
    const first = await source.version();
    expect(first).toBeGreaterThan(before);
    const again = [await source.claimed(), await source.claimed()];
    await completeAll(again);
    expect(await source.version()).toBe(first + 1);
  });

  it('stays for an outcome whose lease was lost', async () => {
    const source = await seeded(on.catalog);
    const lost = await source.claimed();
    const [job] = await on.catalog.queue.claim(want({ now: now + 2 * limits.parseLeaseMs }));
    const before = await source.version();
    await on.catalog.queue.complete([parsed(lost)], now);
    expect(await source.version()).toBe(before);
    await on.catalog.queue.complete([parsed(job!)], now);
    expect(await source.version()).toBeGreaterThan(before);
  });

  it('rises when a delivery is rejected for its crashes', async () => {
    const source = await seeded(on.catalog);
    await store(on.catalog, claimFor(source.sourceId));
    const before = await source.version();
    for (let crash = 1; crash <= limits.parserCrashesMax; crash++) {
      expect(await source.version()).toBe(before);
      const [job] = await on.catalog.queue.claim(want({ now }));
      await on.catalog.queue.crashed(job!, now);
    }
    expect(await source.version()).toBeGreaterThan(before);
  });

  it('rises when a turn of the source, or of all, ends; says until when it is held', async () => {
    const source = await seeded(on.catalog);
    for (const sourceId of [source.sourceId, null]) {
      expect((await source.state()).turnEndsAt).toBeNull();
      const turn = await on.catalog.reparses.takeTurn({ sourceId, leaseMs, now });
      const held = await source.state();
      expect(held.turnEndsAt).toBe(now + leaseMs);
      await on.catalog.reparses.extendTurn(turn!.token, now + 5_000);
      expect(await source.state()).toEqual({ ...held, turnEndsAt: now + 5_000 });
      await on.catalog.reparses.endTurn(turn!.token);
      expect(await source.version()).toBeGreaterThan(held.version);
      const ended = await source.state();
      await on.catalog.reparses.endTurn(turn!.token);
      expect(await source.state()).toEqual(ended);
    }
  });

  it('does not know the turns of other sources', async () => {
    const [one, two] = [await seeded(on.catalog), await seeded(on.catalog)];
    const before = await two.state();
    const turn = await on.catalog.reparses.takeTurn({ sourceId: one.sourceId, leaseMs, now });
    expect(await two.state()).toEqual(before);
    await on.catalog.reparses.endTurn(turn!.token);
    expect(await two.state()).toEqual(before);
  });

  it('shows a turn that ran out until it is cleared away, and rises then', async () => {
    const [one, two] = [await seeded(on.catalog), await seeded(on.catalog)];
    await on.catalog.reparses.takeTurn({ sourceId: one.sourceId, leaseMs, now });
    const left = await one.state();
    expect(left.turnEndsAt).toBe(now + leaseMs);
    const later = { leaseMs, now: now + leaseMs };
    const turn = await on.catalog.reparses.takeTurn({ sourceId: two.sourceId, ...later });
    const cleared = await one.state();
    expect(cleared.turnEndsAt).toBeNull();
    expect(cleared.version).toBeGreaterThan(left.version);
    await on.catalog.reparses.endTurn(turn!.token);
  });

  it('gives no number twice after a restore: it does not fall behind the clock', async () => {
    const source = await seeded(on.catalog);
    await on.catalog.queue.complete([parsed(await source.claimed())], 7_000_000);
    expect(await source.version()).toBeGreaterThanOrEqual(7_000_000);
  });
}

/** A source with a key, and deliveries of it to claim. */
async function seeded(catalog: Catalog) {
  const { sourceId } = await seedSource(catalog);
  const key = newKey(sourceId);
  await catalog.directory.createKey(key, 1);
  const state = async (of = catalog) => (await of.lookup.key(key.hash))!.samples;
  return {
    ...{ sourceId, state },
    version: async (of = catalog) => (await state(of)).version,
    async claimed(): Promise<Job> {
      await store(catalog, claimFor(sourceId));
      const [job] = await catalog.queue.claim(want({ now, leaseMs: limits.parseLeaseMs }));
      return job!;
    },
  };
}
