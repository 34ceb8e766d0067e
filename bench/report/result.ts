import type { Goal } from '../case.ts';
import type { Measured, Row } from '../measure.ts';
import type { Machine } from './machine.ts';

/** What a run found, as it is written to a file. */
export interface Result {
  readonly commit: string;
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly size: string;
  readonly machine: Machine;
  readonly results: readonly ResultRow[];
}

export interface ResultVariant {
  readonly variant: string;
  readonly ours: number;
  readonly theirs: number;
  readonly ratio: number;
  readonly goal: number;
  readonly bound: Goal['bound'];
  /** What the goal is about: the ratio, or ours alone. */
  readonly of: Goal['of'];
  readonly judged: boolean;
  readonly holds: boolean;
  /** Quartiles of the rounds' ratios. */
  readonly spread: { readonly low: number; readonly high: number };
  readonly rounds: number;
  readonly notes: readonly string[];
}

/** One for each name: the judged variant that does worst, with all of them beside it. */
export interface ResultRow extends ResultVariant {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly variants: readonly ResultVariant[];
}

export function resultRow(row: Row): ResultRow {
  const { name, title, unit } = row;
  return { name, title, unit, ...variantOf(row), variants: row.all.map(variantOf) };
}

function variantOf(measured: Measured): ResultVariant {
  const { variant, ours, theirs, ratio, goal, judged, holds, spread, rounds, notes } = measured;
  return {
    ...{ variant, ours: short(ours), theirs: short(theirs), ratio: short(ratio) },
    ...{ goal: short(goal.value), bound: goal.bound, of: goal.of, judged, holds },
    spread: { low: short(spread.low), high: short(spread.high) },
    ...{ rounds, notes },
  };
}

/** Four digits: more than was measured, and no noise beyond. */
function short(value: number): number {
  return Number(value.toPrecision(4));
}
