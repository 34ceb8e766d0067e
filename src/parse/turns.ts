/**
 * Lets at most `atOnce` works run at a time; the others wait in the order they came. How many
 * wait is the caller's to bound.
 */
export class Turns {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Settles as `work` does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Handed on without being freed, so that nobody comes in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
