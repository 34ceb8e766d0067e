import { assert } from '../std/assert.ts';

/**
 * A number of bytes that may be held in memory at once, over all requests. Who wants more than is
 * left waits in line; the process never grows instead.
 */
export class ByteBudget {
  readonly bytesMax: number;
  #taken = 0;
  #line: { bytes: number; grant: () => void }[] = [];

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get bytesTaken(): number {
    return this.#taken;
  }

  /**
   * Takes `bytes`, at once or when they are free, in order of asking.
   *
   * @returns the bytes' release, to be called once; further calls do nothing
   */
  take(bytes: number, signal?: AbortSignal): Promise<() => void> {
    assert(bytes <= this.bytesMax, 'one request fits the budget');
    signal?.throwIfAborted();
    if (this.#line.length === 0 && this.#taken + bytes <= this.bytesMax) {
      return Promise.resolve(this.#grant(bytes));
    }
    return new Promise((resolve, reject) => {
      const entry = { bytes, grant: () => resolve(this.#grant(bytes)) };
      this.#line.push(entry);
      signal?.addEventListener('abort', () => {
        const at = this.#line.indexOf(entry);
        if (at < 0) return;
        this.#line.splice(at, 1);
        reject(signal.reason);
        this.#serve();
      });
    });
  }

  #grant(bytes: number): () => void {
    this.#taken += bytes;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#taken -= bytes;
      this.#serve();
    };
  }

  #serve(): void {
    while (this.#line.length > 0 && this.#taken + this.#line[0]!.bytes <= this.bytesMax) {
      this.#line.shift()!.grant();
    }
  }
}
