import type { RateRule, RateVerdict } from '../domain/rates.ts';

/**
 * Counts requests against their rates. One bucket for each name, shared by all that use the same
 * store. `take` admits or refuses and says what the headers say; a refusal takes no token.
 */
export interface Rates {
  take(bucket: string, rule: RateRule): Promise<RateVerdict>;
  close(): Promise<void>;
}
