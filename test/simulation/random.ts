/** Numbers out of a seed (mulberry32): the same ones for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds begin far from one another.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  }

  /** A whole number in [0, n). */
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  }

  /** A whole number from `from` to `to`, both inclusive. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** True in so many of a hundred cases. */
  percent(of: number): boolean {
    return this.below(100) < of;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}
