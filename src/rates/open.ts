import type { Clock } from '../std/clock.ts';
import { memoryRates } from './memory.ts';
import type { ServiceRates } from './rates.ts';
import { type RatesLog, redisRates } from './redis.ts';

/**
 * The rates that a URL names (DECISIONS 9): those in a Redis server, shared by all processes that
 * name the same; none: those in the memory of this process.
 *
 * @param options.clock of the process, one that nobody sets
 * @throws Error one line, without the password, when the URL has another form
 */
export async function openRates(options: {
  readonly url: string | undefined;
  readonly clock: Clock;
  readonly log: RatesLog;
}): Promise<ServiceRates> {
  const { url, clock, log } = options;
  if (url === undefined) return { ...memoryRates(clock), isLocal: () => false };
  return redisRates({ url, clock, log });
}
