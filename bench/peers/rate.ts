/** A token bucket for each key, in memory. */
export class Rates {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly #buckets = new Map<number, { tokens: number; at: number }>();

  constructor(perMinute: number, burst: number) {
    this.#perMinute = perMinute;
    this.#burst = burst;
  }

  take(key: number, now: number) {
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, at: now };
    const refilled = bucket.tokens + ((now - bucket.at) * this.#perMinute) / 60_000;
    const tokens = Math.min(this.#burst, refilled);
    const admitted = tokens >= 1;
    const left = admitted ? tokens - 1 : tokens;
    this.#buckets.set(key, { tokens: left, at: now });
    const resetSeconds = Math.ceil(((this.#burst - left) * 60) / this.#perMinute);
    const headers = {
      'RateLimit-Limit': String(this.#perMinute),
      'RateLimit-Remaining': String(Math.floor(left)),
      'RateLimit-Reset': String(resetSeconds),
    };
    return { admitted, headers };
  }
}
