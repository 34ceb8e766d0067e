import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bucket, isFull, takeToken } from '../../src/domain/rates.ts';

const rule = { perMinute: 60, burst: 20 };

/** Asks at each of these times, in milliseconds. @returns how many were admitted */
function admitted(times: readonly number[], of = rule): number {
  let bucket: Bucket | undefined;
  let count = 0;
  for (const now of times) {
    const taken = takeToken(bucket, of, now);
    bucket = taken.bucket;
    if (taken.verdict.admitted) count += 1;
  }
  return count;
}

describe('a rate of 60 a minute with a burst of 20 (specification, "Limits")', () => {
  test('over three minutes exactly 20 and one a second are admitted', () => {
    const everyMs = Array.from({ length: 180_001 }, (_, ms) => 5_000 + ms);
    expect(admitted(everyMs)).toBe(20 + 180);
  });

  test.each([1, 7, 33, 999, 1_000, 1_001])('asking every %i ms admits never one more', (step) => {
    const times = Array.from({ length: Math.floor(180_000 / step) + 1 }, (_, i) => i * step);
    const elapsedSeconds = Math.floor(times.at(-1)! / 1_000);
    const count = admitted(times);
    expect(count).toBeLessThanOrEqual(20 + elapsedSeconds);
    expect(count).toBe(Math.min(times.length, 20 + elapsedSeconds));
  });

  test('the headers say what is left, when it is full, and when to come again', () => {
    let bucket: Bucket | undefined;
    for (let i = 0; i < 20; i += 1) bucket = takeToken(bucket, rule, 0).bucket;
    const refused = takeToken(bucket, rule, 250).verdict;
    expect(refused).toEqual({
      admitted: false,
      limit: 60,
      remaining: 0,
      resetSeconds: 20,
      retryAfterSeconds: 1,
    });
    expect(takeToken(bucket, rule, 1_250).verdict.admitted).toBe(true);
  });

  test('a clock that goes back gives no tokens', () => {
    let bucket: Bucket | undefined;
    for (let i = 0; i < 20; i += 1) bucket = takeToken(bucket, rule, 100_000).bucket;
    for (const now of [0, 50_000, 100_000]) {
      const taken = takeToken(bucket, rule, now);
      expect(taken.verdict.admitted).toBe(false);
      bucket = taken.bucket;
    }
  });

  test('a bucket is full again after its reset, and not before', () => {
    const { bucket, verdict } = takeToken(undefined, rule, 0);
    expect(isFull(bucket, rule, verdict.resetSeconds * 1_000)).toBe(true);
    expect(isFull(bucket, rule, verdict.resetSeconds * 1_000 - 1)).toBe(false);
  });
});

test('whatever the rule and the times: never over burst and refill, waiting always helps', () => {
  const rules = fc.record({
    perMinute: fc.integer({ min: 1, max: 1_000_000 }),
    burst: fc.integer({ min: 1, max: 1_000 }),
  });
  const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 });
  fc.assert(
    fc.property(rules, steps, (of, waits) => {
      let bucket: Bucket | undefined;
      let now = 1_700_000_000_000;
      const began = now;
      let count = 0;
      for (const wait of waits) {
        now += wait;
        const taken = takeToken(bucket, of, now);
        bucket = taken.bucket;
        if (taken.verdict.admitted) count += 1;
        else {
          const again = now + taken.verdict.retryAfterSeconds * 1_000;
          expect(takeToken(bucket, of, again).verdict.admitted).toBe(true);
        }
      }
      const refilled = Math.floor(((now - began) * of.perMinute) / 60_000);
      expect(count).toBeLessThanOrEqual(of.burst + refilled);
    }),
  );
});
