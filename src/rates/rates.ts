import type { RateRule, RateVerdict } from '../domain/rates.ts';

/**
 * Counts requests against their rates. One bucket for each name, shared by all that use the same
 * store. `take` admits or refuses and says what the headers say; a refusal takes no token.
 */
export interface Rates {
  take(bucket: string, rule: RateRule): Promise<RateVerdict>;
  close(): Promise<void>;
}

/** The rates of a service, which tell whether they are shared as they were set up to be. */
export interface ServiceRates extends Rates {
  /** Whether the store they are shared in is away, so that this process counts by itself. */
  isLocal(): boolean;
}
