import { type Bucket, isFull, type RateRule, takeToken } from '../domain/rates.ts';
import type { Clock } from '../std/clock.ts';
import type { Rates } from './rates.ts';

const sweepEvery = 10_000;

/**
 * Rates in the memory of one process. Buckets that are full again are forgotten.
 *
 * @param clock of the process: whoever sets the system's clock forward would give everybody a full
 *   bucket, and whoever sets it back would stop the refill until it is where it was
 */
export function memoryRates(clock: Clock): Rates {
  const buckets = new Map<string, { bucket: Bucket; rule: RateRule }>();
  let takes = 0;
  return {
    async take(name, rule) {
      const now = clock();
      takes += 1;
      if (takes % sweepEvery === 0) forgetFull(buckets, now);
      const { bucket, verdict } = takeToken(buckets.get(name)?.bucket, rule, now);
      buckets.set(name, { bucket, rule });
      return verdict;
    },
    async close() {},
  };
}

function forgetFull(buckets: Map<string, { bucket: Bucket; rule: RateRule }>, now: number): void {
  for (const [name, { bucket, rule }] of buckets) {
    if (isFull(bucket, rule, now)) buckets.delete(name);
  }
}
