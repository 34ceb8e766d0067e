import type { BenchCase, Size } from './case.ts';
import { type Measured, measureCase, type Row } from './measure.ts';
import { World } from './world/world.ts';

export interface RunOptions {
  readonly size: Size;
  /** Hears of each variant as soon as it is measured. */
  tell(bench: BenchCase, measured: Measured): void;
  /** Hears of what is started, so that it can be ended from outside. */
  onWorld?(world: World): void;
}

/** Runs cases one after the other. @throws Error when an answer is wrong or a server fails */
export async function runCases(cases: readonly BenchCase[], options: RunOptions): Promise<Row[]> {
  const { size, tell } = options;
  const rows: Row[] = [];
  let world = new World(size);
  let group: BenchCase['group'] | null = null;
  try {
    for (const bench of cases) {
      if (bench.group !== group || group === 'alone') {
        await world.end();
        world = new World(size);
        options.onWorld?.(world);
        group = bench.group;
      }
      rows.push(await measureCase(bench, size, world, (measured) => tell(bench, measured)));
    }
  } finally {
    await world.end();
  }
  return rows;
}
