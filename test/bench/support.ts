import { expect } from 'vitest';
import type { BenchCase } from '../../bench/case.ts';
import { cases } from '../../bench/cases/list.ts';
import { resultRow } from '../../bench/report/result.ts';
import { runCases } from '../../bench/run.ts';

/**
 * Runs the cases of a group tiny, with all their servers: answers are checked, both sides are
 * measured once. What the figures are says nothing at that size, only that they are some.
 */
export async function runTiny(group: BenchCase['group']): Promise<void> {
  const chosen = cases.filter((bench) => bench.group === group);
  const heard: string[] = [];
  const tell = (bench: BenchCase, { variant }: { variant: string }) => {
    heard.push(`${bench.name}, ${variant}`);
  };
  const rows = (await runCases(chosen, { size: 'tiny', tell })).map(resultRow);
  expect(rows.map(({ name }) => name)).toEqual(chosen.map(({ name }) => name));
  const variants = rows.flatMap((row) => row.variants.map((one) => ({ ...one, name: row.name })));
  expect(heard).toEqual(variants.map(({ name, variant }) => `${name}, ${variant}`));
  for (const one of variants) {
    expect(one.ours).toBeGreaterThan(0);
    expect(one.theirs).toBeGreaterThan(0);
    // Figures are rounded to four digits.
    expect(Math.abs(one.ratio / (one.ours / one.theirs) - 1)).toBeLessThan(0.002);
    expect(one.spread).toEqual({ low: one.ratio, high: one.ratio });
    expect(one.rounds).toBe(1);
  }
}
