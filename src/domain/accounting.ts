import type { Counts } from './nouns.ts';

/**
 * By how much the accounting of a delivery is wrong (DECISIONS 2): records = parsed + rejected;
 * over parsed records, values seen = samples + blank + superseded within. Must be 0.
 */
export function accountingDifference(counts: Counts, valuesSeen: number): number {
  const { records, parsed, rejected, samples, blank, supersededWithin } = counts;
  return (
    Math.abs(records - parsed - rejected) +
    Math.abs(valuesSeen - samples - blank - supersededWithin)
  );
}
