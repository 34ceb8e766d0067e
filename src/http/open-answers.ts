import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 10;

/** Counts the answers under way, so that a stop can wait for them. */
export class OpenAnswers {
  #count = 0;
  #closing = false;
  #lastAt = performance.now();

  /** Each answer is the last of its connection from now on. */
  get closing(): boolean {
    return this.#closing;
  }

  enter(): void {
    this.#count += 1;
    this.#lastAt = performance.now();
  }

  leave(): void {
    this.#count -= 1;
    this.#lastAt = performance.now();
  }

  /** Somebody came who may ask. */
  noteConnection(): void {
    this.#lastAt = performance.now();
  }

  /** Begins the closing: who gets an answer is told that it is the last of its connection. */
  beginClosing(): void {
    this.#closing = true;
    this.#lastAt = performance.now();
  }

  /**
   * Resolves when nothing is under way and nobody is left who could ask, or nobody has for
   * `quietMs`; after `graceMs` in any case. So a request that was on its way when the closing began
   * is still answered.
   *
   * @param connections how many are open now
   */
  async settled(graceMs: number, quietMs: number, connections: () => number): Promise<void> {
    const end = performance.now() + graceMs;
    for (let now = performance.now(); now < end; now = performance.now()) {
      const quiet = connections() === 0 || now - this.#lastAt >= quietMs;
      if (this.#count === 0 && quiet) return;
      await sleep(Math.min(lookEveryMs, end - now));
    }
  }
}
