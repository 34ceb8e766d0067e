import { assert } from '../../src/std/assert.ts';

/** A cost that has a part for each occasion and a part for each thing in it. */
export interface Line {
  readonly each: number;
  readonly perUnit: number;
}

export interface Point {
  readonly units: number;
  readonly cost: number;
}

/**
 * The line that comes nearest to measured costs, relative to each of them, so that small ones count
 * as much as large ones. Neither part is below zero.
 */
export function fitLine(points: readonly Point[]): Line {
  assert(points.length >= 2, 'a line needs two points');
  let [w, wx, wy, wxx, wxy] = [0, 0, 0, 0, 0];
  for (const { units, cost } of points) {
    const weight = 1 / Math.max(cost, 1e-9) ** 2;
    w += weight;
    wx += weight * units;
    wy += weight * cost;
    wxx += weight * units * units;
    wxy += weight * units * cost;
  }
  const perUnit = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  const each = (wy - perUnit * wx) / w;
  if (perUnit < 0) return { each: wy / w, perUnit: 0 };
  if (each < 0) return { each: 0, perUnit: wxy / wxx };
  return { each, perUnit };
}

export function costOf({ each, perUnit }: Line, units: number): number {
  return each + perUnit * units;
}
