import type { World } from './world/world.ts';

/** How much is measured: a full run, one of under 90 seconds, or one round to see that it works. */
export type Size = 'full' | 'quick' | 'tiny';

export interface Goal {
  readonly value: number;
  readonly bound: 'at least' | 'at most';
  /** What is held against it: ours divided by theirs, or ours alone, in the unit of the case. */
  readonly of: 'ratio' | 'ours';
}

/** One row of the bench: a question, and the two things that answer it. */
export interface BenchCase {
  readonly name: string;
  /** What is measured, against what: one line. */
  readonly title: string;
  readonly unit: string;
  /** Cases of one group that follow one another share the servers that they start. */
  readonly group: 'documents' | 'pushes' | 'embedded' | 'reads' | 'alone';
  variants(size: Size): readonly Variant[];
}

/** One way to ask the question. The row of a case is the judged variant that does worst. */
export interface Variant {
  readonly name: string;
  readonly goal: Goal;
  /** False: printed beside the others, but no part of the claim. */
  readonly judged: boolean;
  prepare(world: World): Promise<Contest>;
}

/** Two things that are measured in turn. */
export interface Contest {
  /** Looks at the answers of both sides. @throws Error when one of them is wrong */
  check(): Promise<void>;
  /** One measurement, in the unit of the case. */
  ours(): Promise<number>;
  theirs(): Promise<number>;
  /** Set where a round takes long, or begins from nothing: so many, and none before them. */
  readonly rounds?: number;
  /** Said below the table, when all was measured. */
  notes?(): readonly string[];
  close(): Promise<void>;
}

/** Picks what a size asks for. */
export function bySize<T>(size: Size, choice: Readonly<Record<Size, T>>): T {
  return choice[size];
}
