import { ApiError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { assert } from '../std/assert.ts';

/** Whose bytes they are: a body on its way in. */
export interface Holder {
  /** How much of it has come so far. */
  readonly bytesCome: number;
  readonly complete: boolean;
  /** Gives its bytes back soon, and answers `error`. */
  giveWay(error: Error): void;
}

interface Asker {
  readonly bytes: number;
  readonly holder: Holder;
  grant(release: () => void): void;
  refuse(error: Error): void;
}

interface Lease {
  readonly holder: Holder;
  readonly since: number;
  readonly bytesComeBefore: number;
}

/**
 * A number of bytes that may be held in memory at once, over all requests. Who wants more than is
 * left waits in line, with its sender paused; the process never grows instead.
 *
 * Fairness: bodies up to `smallBodyBytesMax` have a line of their own, the smallest first, and a
 * share that large ones leave free: whatever holds the rest, a small body waits for small ones
 * only. Large ones come in order of asking.
 *
 * Progress: while others wait, a body must come at `bytesASecondMin`, after a grace; one that
 * lags is refused with 503. So neither line stands still behind senders who stall.
 */
export class ByteBudget {
  readonly bytesMax: number;
  readonly #bytesASecondMin: number;
  #taken = 0;
  readonly #small: Asker[] = [];
  readonly #large: Asker[] = [];
  /** In order of granting. */
  readonly #leases = new Set<Lease>();
  #watch: NodeJS.Timeout | null = null;

  /** @param bytesASecondMin what a body must come at while others wait */
  constructor(bytesMax: number, bytesASecondMin: number) {
    assert(bytesMax > limits.smallShareBytes, 'large bodies find room');
    this.bytesMax = bytesMax;
    this.#bytesASecondMin = bytesASecondMin;
  }

  get bytesTaken(): number {
    return this.#taken;
  }

  /**
   * Takes `bytes`, at once or when they are free.
   *
   * @returns the bytes' release, to be called once; further calls do nothing
   * @throws ApiError 503 when the line is full
   */
  take(bytes: number, holder: Holder): Promise<() => void> {
    assert(bytes <= this.bytesMax - limits.smallShareBytes, 'one request fits the budget');
    const line = bytes <= limits.smallBodyBytesMax ? this.#small : this.#large;
    if (line.length === 0 && this.#fits(bytes)) return Promise.resolve(this.#lend(bytes, holder));
    return new Promise((grant, refuse) => {
      const at = line === this.#small ? line.findIndex((one) => one.bytes > bytes) : -1;
      line.splice(at < 0 ? line.length : at, 0, { bytes, holder, grant, refuse });
      if (line.length > limits.budgetLineMax) line.pop()!.refuse(busy('Too many bodies wait.'));
      this.#watch ??= setInterval(() => this.#checkProgress(), checkMs).unref();
      // Small ones need not wait for what fits the large share only.
      this.#serve();
    });
  }

  #fits(bytes: number): boolean {
    const kept = bytes <= limits.smallBodyBytesMax ? 0 : limits.smallShareBytes;
    return this.#taken + bytes <= this.bytesMax - kept;
  }

  #lend(bytes: number, holder: Holder): () => void {
    const lease = { holder, since: performance.now(), bytesComeBefore: holder.bytesCome };
    this.#taken += bytes;
    this.#leases.add(lease);
    return () => {
      if (!this.#leases.delete(lease)) return;
      this.#taken -= bytes;
      this.#serve();
    };
  }

  #serve(): void {
    for (const line of [this.#small, this.#large]) {
      while (line.length > 0 && this.#fits(line[0]!.bytes)) {
        const { bytes, holder, grant } = line.shift()!;
        grant(this.#lend(bytes, holder));
      }
    }
    if (this.#small.length + this.#large.length > 0 || !this.#watch) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }

  #checkProgress(): void {
    const now = performance.now();
    for (const { holder, since, bytesComeBefore } of this.#leases) {
      const seconds = (now - since - graceMs) / 1_000;
      const owed = seconds * this.#bytesASecondMin;
      if (seconds <= 0 || holder.complete || holder.bytesCome - bytesComeBefore >= owed) continue;
      holder.giveWay(busy('This body came too slowly while others waited.'));
    }
  }
}

const checkMs = 100;
const graceMs = 2_000;

function busy(why: string): ApiError {
  return new ApiError(503, 'internal', `${why} Try again.`, { headers: { 'Retry-After': '5' } });
}
