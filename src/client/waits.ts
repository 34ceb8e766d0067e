/** The sender's waits (specification, "Webhook delivery contract (for senders)"). */
export const retryLimits = {
  firstWaitMs: 30_000,
  waitMaxMs: 3_600_000,
  giveUpAfterMs: 3 * 86_400_000,
  /** Also after `Retry-After: 0`, so that a confused service is not flooded for three days. */
  tooManyWaitMinMs: 1_000,
} as const;

/**
 * The wait after a failure, with equal jitter: half of it is fixed, so that waits grow, the other
 * half is random, so that senders who failed together do not return together.
 *
 * @param failures how many there were before this one
 * @param random from 0 to 1
 * @returns milliseconds, never more than an hour
 */
export function backoffMs(failures: number, random: number): number {
  const { firstWaitMs, waitMaxMs } = retryLimits;
  const ceiling = Math.min(waitMaxMs, firstWaitMs * 2 ** failures);
  return Math.round((ceiling / 2) * (1 + random));
}

const day = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const time = '[0-9]{2}:[0-9]{2}:[0-9]{2}';
const httpDate = new RegExp(`^${day}[a-z]*, [0-9]{2}[ -][A-Za-z]{3}[ -][0-9]{2,4} ${time} GMT$`);
const asctimeDate = new RegExp(`^${day} [A-Za-z]{3} [ 0-9][0-9] ${time} [0-9]{4}$`);

/**
 * Reads `Retry-After`: seconds, or a date in any of its three forms (RFC 9110, 5.6.7 and 10.2.3).
 *
 * @returns milliseconds from now, 0 for a date that is past; null when absent or unreadable
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^[0-9]{1,15}$/.test(text)) return Number(text) * 1_000;
  const date = httpDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : null;
  const at = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
