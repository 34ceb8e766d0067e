import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import type { CatalogBed } from './catalog-bed.ts';
import { declare } from './fixtures.ts';
import { MemoryBed, readDeclared } from './memory-bed.ts';
import { begin, type RunResult, simulate } from './run.ts';
import { SqliteBed } from './sqlite-bed.ts';

/** Runs in `npm test`, shared by the files that vitest runs at once. */
export const seedsInAll = Number(process.env.SIM_SEEDS ?? 10_000);

/** One seed in its place: its run is told line by line. */
export const soleSeed = process.env.SIM_SEED === undefined ? null : Number(process.env.SIM_SEED);

/** A lease is a fifth as long as in production, so that a run of a few seconds outlives some. */
const leaseMs = 3_000;

/** The two catalogs that all runs of a file share, while its tests are run. */
export function sharedBeds(): () => { readonly sqlite: CatalogBed; readonly memory: CatalogBed } {
  let sqlite: SqliteBed;
  let memory: MemoryBed;
  const { parseLeaseMs } = limits;
  beforeAll(async () => {
    sqlite = await SqliteBed.open();
    await declare(sqlite, begin - 1_000);
    memory = new MemoryBed(await readDeclared(sqlite.lookup()));
    Object.assign(limits, { parseLeaseMs: leaseMs });
  });
  afterAll(async () => {
    Object.assign(limits, { parseLeaseMs });
    await sqlite.close();
  });
  return () => ({ sqlite, memory });
}

/** @throws AssertionError with the trace of the run when a promise is broken */
export function expectPromisesKept({ seed, problems, trace }: RunResult): void {
  const again = `SIM_SEED=${seed} npx vitest run test/simulation`;
  expect(problems, [`seed ${seed}; ${again}`, ...(trace ?? [])].join('\n')).toEqual([]);
}

/** Runs the seeds on a catalog; each has to keep every promise. Says what they came to. */
export async function runSeeds(bed: CatalogBed, seeds: readonly number[]): Promise<void> {
  const cpu = process.cpuUsage();
  const sums = { deliveries: 0, attempts: 0, kills: 0, milliseconds: 0 };
  for (const seed of seeds) {
    const result = await simulate(bed, seed);
    if (result.problems.length > 0) {
      expectPromisesKept(await simulate(bed, seed, true));
      expect.fail(`seed ${seed} runs differently again: ${result.problems.join('\n')}`);
    }
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += result[name];
  }
  const { user, system } = process.cpuUsage(cpu);
  const hours = (sums.milliseconds / 3_600_000).toFixed(1);
  console.log(
    `simulation: ${seeds.length} seeds (${seeds[0]}, ${seeds[1]}, …) in ` +
      `${((user + system) / 1e6).toFixed(1)} s of one core: ` +
      `${hours} virtual hours, ${sums.deliveries} deliveries, ${sums.attempts} answers, ` +
      `${sums.kills} ends of processes`,
  );
}

/** Seeds `from`, `from` + 2, …: the other ones are run by another file at the same time. */
export function runHalf(beds: ReturnType<typeof sharedBeds>, from: 0 | 1): void {
  const seeds = Array.from({ length: Math.floor(seedsInAll / 2) }, (_, i) => from + 2 * i);
  test.runIf(soleSeed === null)(
    `${seeds.length} seeds keep every promise, whatever fails`,
    { timeout: 900_000 },
    () => runSeeds(beds().memory, seeds),
  );
}
