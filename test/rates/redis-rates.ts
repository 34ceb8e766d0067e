import type { RatesLog } from '../../src/rates/redis.ts';

export const quiet: RatesLog = { debug() {}, info() {}, warn() {} };

/** No answer is late: for tests of what the server counts, on machines that do much besides. */
export const patient = { take: 20_000, silent: 60_000 };

export interface Told {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly err?: Error;
}

/** A log that keeps what operators see by default. */
export function keptLog(): RatesLog & { readonly told: Told[] } {
  const told: Told[] = [];
  return {
    told,
    debug() {},
    info: (fields, message) => void told.push({ level: 'info', message, ...fields }),
    warn: (fields, message) => void told.push({ level: 'warn', message, ...fields }),
  };
}
