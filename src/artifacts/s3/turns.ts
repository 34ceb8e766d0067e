import { assert } from '../../std/assert.ts';

/** Lets at most `atOnce` callers in at a time; the others wait in the order they came. */
export class Turns {
  readonly #limits: { atOnce: number; waitingMax: number; waitMs: number };
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  /** Beyond `waitingMax` waiting callers, and after `waitMs` of waiting, callers are refused. */
  constructor(limits: { atOnce: number; waitingMax: number; waitMs: number }) {
    this.#limits = limits;
  }

  /** Resolves when it is the caller's turn, who must `free` it; rejects when refused or aborted. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { atOnce, waitingMax, waitMs } = this.#limits;
    if (this.#taken < atOnce) {
      this.#taken += 1;
      return;
    }
    if (this.#waiting.size >= waitingMax) throw new Error(`${waitingMax} uploads wait already`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Out of the line at once, or a turn could be handed to a caller that has gone.
    const leave = (reason: unknown) => {
      this.#waiting.delete(resolve);
      reject(reason);
    };
    const abort = () => leave(signal.reason);
    const timer = setTimeout(() => leave(new Error(`no turn within ${waitMs} ms`)), waitMs);
    this.#waiting.add(resolve);
    signal.addEventListener('abort', abort);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends a turn; who waits longest takes it over. */
  free(): void {
    assert(this.#taken > 0, 'a turn is freed once');
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#taken -= 1;
  }
}
