import type { BenchCase, Contest, Goal, Size, Variant } from './case.ts';
import { type Round, type Summary, summarize } from './statistics.ts';
import type { World } from './world/world.ts';

/** One variant, measured. */
export interface Measured extends Summary {
  readonly variant: string;
  readonly judged: boolean;
  readonly goal: Goal;
  readonly holds: boolean;
  readonly rounds: number;
  /** What all of it took: servers, checks and rounds. */
  readonly seconds: number;
  readonly notes: readonly string[];
}

/** One row of the result: the case's judged variant that is furthest from its goal. */
export interface Row extends Measured {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** All variants, the row's own too. */
  readonly all: readonly Measured[];
}

const rounds: Readonly<Record<Size, number>> = { full: 7, quick: 3, tiny: 1 };

/** Measures one case, one variant after the other. `tell` hears of each as it is done. */
export async function measureCase(
  bench: BenchCase,
  size: Size,
  world: World,
  tell: (measured: Measured) => void,
): Promise<Row> {
  const all: Measured[] = [];
  for (const variant of bench.variants(size)) {
    const measured = await measureVariant(variant, size, world);
    tell(measured);
    all.push(measured);
  }
  const { name, title, unit } = bench;
  return { name, title, unit, ...worst(all), all };
}

async function measureVariant(variant: Variant, size: Size, world: World): Promise<Measured> {
  const started = performance.now();
  const contest = await variant.prepare(world);
  try {
    await contest.check();
    const count = contest.rounds ?? rounds[size];
    const warm = size !== 'tiny' && contest.rounds === undefined;
    const summary = summarize(await takeTurns(contest, count, warm));
    return {
      ...summary,
      ...{ variant: variant.name, judged: variant.judged, goal: variant.goal },
      holds: holds(variant.goal, summary),
      rounds: count,
      seconds: (performance.now() - started) / 1_000,
      notes: contest.notes?.() ?? [],
    };
  } finally {
    await contest.close();
  }
}

/** Ours, theirs, ours, theirs …; both once before, so that code is warm and files are there. */
export async function takeTurns(
  contest: Pick<Contest, 'ours' | 'theirs'>,
  count: number,
  warm: boolean,
): Promise<Round[]> {
  if (warm) {
    await contest.ours();
    await contest.theirs();
  }
  const taken: Round[] = [];
  for (let i = 0; i < count; i++) {
    const ours = await contest.ours();
    taken.push({ ours, theirs: await contest.theirs() });
  }
  return taken;
}

export function holds(goal: Goal, { ours, ratio }: Pick<Summary, 'ours' | 'ratio'>): boolean {
  const value = goal.of === 'ratio' ? ratio : ours;
  return goal.bound === 'at least' ? value >= goal.value : value <= goal.value;
}

/** How far beyond its goal a variant is: 1 reaches it, less than 1 misses it. */
function margin({ goal, ours, ratio }: Measured): number {
  const value = goal.of === 'ratio' ? ratio : ours;
  return goal.bound === 'at least' ? value / goal.value : goal.value / value;
}

export function worst(all: readonly Measured[]): Measured {
  const judged = all.filter((measured) => measured.judged);
  return judged.reduce((a, b) => (margin(b) < margin(a) ? b : a));
}
