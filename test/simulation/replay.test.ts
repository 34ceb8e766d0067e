import { expect, test } from 'vitest';
import type { CatalogBed } from './catalog-bed.ts';
import { simulate } from './run.ts';
import { expectPromisesKept, sharedBeds, soleSeed } from './seeds.ts';

const beds = sharedBeds();

/** Far from those of the other files. */
const seedsFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => from + i);

async function hashes(bed: CatalogBed, seeds: readonly number[]): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const seed of seeds) found.set(seed, (await simulate(bed, seed)).hash);
  return found;
}

if (soleSeed === null) {
  const most = { timeout: 120_000 };
  test('a seed gives the same run each time, whatever ran before', most, async () => {
    const seeds = seedsFrom(1_000_000, 100);
    const once = await hashes(beds().memory, seeds);
    const again = await hashes(beds().memory, [...seeds].reverse());
    expect(new Set(once.values()).size).toBe(seeds.length);
    expect([...again].reverse()).toEqual([...once]);
  });

  test('a seed gives the same run on SQLite and on the catalog in memory', most, async () => {
    for (const seed of seedsFrom(2_000_000, 150)) {
      const real = await simulate(beds().sqlite, seed);
      expectPromisesKept(real);
      expect((await simulate(beds().memory, seed)).hash, `seed ${seed}`).toBe(real.hash);
    }
  });
} else {
  const seed = soleSeed;
  test(`the run of seed ${seed}, line by line`, async () => {
    const result = await simulate(beds().sqlite, seed, true);
    console.log([...result.trace!, `hash ${result.hash}`].join('\n'));
    expectPromisesKept(result);
    expect((await simulate(beds().memory, seed)).hash).toBe(result.hash);
  });
}
