import { describe, expect, test } from 'vitest';
import type { Goal } from '../../bench/case.ts';
import { holds, type Measured, takeTurns, worst } from '../../bench/measure.ts';
import { median, quantile, summarize } from '../../bench/statistics.ts';

describe('quantiles', () => {
  test('of an odd number of values the median is the middle one, in whatever order', () => {
    expect(median([9, 1, 5])).toBe(5);
  });

  test('between two values a quantile is interpolated', () => {
    expect(median([1, 2])).toBe(1.5);
    expect(quantile([10, 20, 30, 40, 50], 0.25)).toBe(20);
    expect(quantile([1, 2, 3, 4], 0.25)).toBe(1.75);
    expect(quantile([1, 2, 3, 4], 0.99)).toBeCloseTo(3.97);
  });

  test('the ends are the least and the greatest value', () => {
    expect([quantile([3, 1, 2], 0), quantile([3, 1, 2], 1)]).toEqual([1, 3]);
  });

  test('of nothing there is none', () => {
    expect(() => median([])).toThrow('no quantile of nothing');
  });
});

test('the ratio is the median of what each round compared, not of medians', () => {
  // The machine became three times slower after the first round; the ratio stayed 2.
  const rounds = [
    { ours: 60, theirs: 30 },
    { ours: 20, theirs: 10 },
    { ours: 22, theirs: 10 },
  ];
  expect(summarize(rounds)).toEqual({
    ...{ ours: 22, theirs: 10, ratio: 2 },
    spread: { low: 2, high: 2.1 },
  });
});

describe('turns', () => {
  test('both are measured in turn, and once before where code must be warm', async () => {
    const calls: string[] = [];
    const contest = {
      ours: async () => calls.push('ours'),
      theirs: async () => calls.push('theirs'),
    };
    const rounds = await takeTurns(contest, 2, true);
    expect(calls).toEqual(['ours', 'theirs', 'ours', 'theirs', 'ours', 'theirs']);
    expect(rounds).toEqual([
      { ours: 3, theirs: 4 },
      { ours: 5, theirs: 6 },
    ]);
  });
});

const atLeast = (value: number): Goal => ({ value, bound: 'at least', of: 'ratio' });
const atMost = (value: number): Goal => ({ value, bound: 'at most', of: 'ratio' });

describe('goals', () => {
  test('a bound belongs to what holds', () => {
    expect(holds(atLeast(0.85), { ours: 0, ratio: 0.85 })).toBe(true);
    expect(holds(atLeast(0.85), { ours: 0, ratio: 0.84 })).toBe(false);
    expect(holds(atMost(2), { ours: 0, ratio: 2 })).toBe(true);
    expect(holds(atMost(2), { ours: 0, ratio: 2.01 })).toBe(false);
  });

  test('some goals are about our own figure', () => {
    const goal: Goal = { value: 100, bound: 'at most', of: 'ours' };
    expect(holds(goal, { ours: 99, ratio: 5 })).toBe(true);
    expect(holds(goal, { ours: 101, ratio: 0.1 })).toBe(false);
  });

  test('a case is judged by the variant that is furthest from its goal', () => {
    const measured = (variant: string, goal: Goal, ratio: number, judged = true) =>
      ({ variant, goal, ratio, judged, ours: 1 }) as Measured;
    const all = [
      measured('well', atLeast(2), 3),
      measured('worst', atMost(2), 4),
      measured('bad', atLeast(2), 1.5),
      measured('beside', atLeast(2), 0.1, false),
    ];
    expect(worst(all).variant).toBe('worst');
  });
});
