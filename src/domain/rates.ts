import { assert } from '../std/assert.ts';

/** How often something may happen (DECISIONS 7): a bucket of `burst` tokens, refilled evenly. */
export interface RateRule {
  readonly perMinute: number;
  readonly burst: number;
}

/**
 * The state of one bucket. `level` counts in sixty-thousandths of a token, so that a millisecond
 * refills a whole number (`perMinute`) of them and nothing is ever rounded.
 */
export interface Bucket {
  readonly level: number;
  /** Milliseconds by the caller's clock; never goes back, whatever that does. */
  readonly at: number;
}

/** One token of a bucket's level. */
export const token = 60_000;

/** What a take was answered with, and what its headers say. */
export interface RateVerdict {
  readonly admitted: boolean;
  /** `RateLimit-Limit`: requests a minute. */
  readonly limit: number;
  /** `RateLimit-Remaining`: whole tokens left. */
  readonly remaining: number;
  /** `RateLimit-Reset`: seconds until the bucket is full. */
  readonly resetSeconds: number;
  /** `Retry-After`, when not admitted: who waits so long is admitted. */
  readonly retryAfterSeconds: number;
}

/**
 * Takes one token if there is a whole one; a bucket that was never used is full.
 *
 * A clock that goes back refills nothing and takes nothing away.
 */
export function takeToken(
  bucket: Bucket | undefined,
  rule: RateRule,
  now: number,
): { bucket: Bucket; verdict: RateVerdict } {
  assert(rule.perMinute >= 1 && rule.burst >= 1, 'a rate admits something');
  const full = rule.burst * token;
  const refilled = bucket === undefined ? full : refill(bucket, rule, now, full);
  const admitted = refilled >= token;
  const level = admitted ? refilled - token : refilled;
  const at = Math.max(now, bucket?.at ?? now);
  return {
    bucket: { level, at },
    verdict: verdictOf(admitted, level, rule),
  };
}

/** @param level what is left in the bucket after the take */
export function verdictOf(admitted: boolean, level: number, rule: RateRule): RateVerdict {
  return {
    admitted,
    limit: rule.perMinute,
    remaining: Math.floor(level / token),
    resetSeconds: secondsToRefill(rule.burst * token - level, rule),
    retryAfterSeconds: admitted ? 0 : secondsToRefill(token - level, rule),
  };
}

/** Whether a bucket is as full as one that was never used: it can be forgotten. */
export function isFull(bucket: Bucket, rule: RateRule, now: number): boolean {
  return refill(bucket, rule, now, rule.burst * token) >= rule.burst * token;
}

function refill(bucket: Bucket, rule: RateRule, now: number, full: number): number {
  const elapsed = Math.max(0, now - bucket.at);
  const toFull = Math.ceil((full - bucket.level) / rule.perMinute);
  return elapsed >= toFull ? full : bucket.level + elapsed * rule.perMinute;
}

function secondsToRefill(missing: number, rule: RateRule): number {
  return Math.ceil(missing / rule.perMinute / 1_000);
}
