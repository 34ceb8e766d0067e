import { assert } from '../src/std/assert.ts';

/**
 * The value below which a share of the values lies, between two values by linear interpolation
 * (Hyndman and Fan's type 7, as most tools do it).
 *
 * @param share between 0 and 1
 */
export function quantile(values: readonly number[], share: number): number {
  assert(values.length > 0, 'there is no quantile of nothing');
  assert(share >= 0 && share <= 1, 'a share lies between 0 and 1');
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.ceil(at)]!;
  return low + (high - low) * (at - below);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** What one round measured. */
export interface Round {
  readonly ours: number;
  readonly theirs: number;
}

export interface Summary {
  /** Medians over the rounds. */
  readonly ours: number;
  readonly theirs: number;
  /** The median of the rounds' own ratios: each compares what ran next to each other. */
  readonly ratio: number;
  /** The quartiles of the rounds' ratios. */
  readonly spread: { readonly low: number; readonly high: number };
}

export function summarize(rounds: readonly Round[]): Summary {
  const ratios = rounds.map(({ ours, theirs }) => ours / theirs);
  return {
    ours: median(rounds.map(({ ours }) => ours)),
    theirs: median(rounds.map(({ theirs }) => theirs)),
    ratio: median(ratios),
    spread: { low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) },
  };
}
