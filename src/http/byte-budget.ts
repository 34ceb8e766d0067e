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
}

/** Bytes that are lent, and where its body stood when it was last looked at. */
interface Lease {
  readonly holder: Holder;
  at: number;
  bytesCome: number;
}

const checkMs = 100;
const progressMs = 2_000;

/**
 * A number of bytes that may be held in memory at once, over all requests. Who wants more than is
 * left waits in line, with its sender paused; the process never grows instead.
 *
 * Small bodies (`smallBodyBytesMax`) wait in the lobby until they are complete and ask then, so
 * that nobody waits for the sender of one. The lobby is bounded too: its oldest gives way.
 *
 * Large ones ask before they are read, and leave a share of the bytes to the small ones. While
 * others wait, a body must come at `bytesASecondMin`; one that lags for two seconds is refused
 * with 503. So neither line stands still behind senders who stall.
 */
export class ByteBudget {
  readonly bytesMax: number;
  readonly #bytesASecondMin: number;
  #taken = 0;
  readonly #lines: { readonly small: Asker[]; readonly large: Asker[] } = { small: [], large: [] };
  readonly #leases = new Set<Lease>();
  /** Small bodies that are not complete, the oldest first. */
  readonly #lobby = new Set<Holder>();
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

  /** Lets a small body wait until it is complete. @returns to be called when it is */
  enterLobby(holder: Holder): () => void {
    this.#lobby.add(holder);
    const [oldest] = this.#lobby;
    if (oldest && this.#lobby.size > limits.lobbyBodiesMax) {
      this.#lobby.delete(oldest);
      oldest.giveWay(busy('This body came too slowly, and others came.'));
    }
    return () => this.#lobby.delete(holder);
  }

  /**
   * Takes `bytes`, at once or when they are free, in order of asking among its like.
   *
   * @returns the bytes' release, to be called once; further calls do nothing
   * @throws ApiError 503 when the line is full
   */
  take(bytes: number, holder: Holder): Promise<() => void> {
    assert(bytes <= this.bytesMax - limits.smallShareBytes, 'one request fits the budget');
    const line = isSmall(bytes) ? this.#lines.small : this.#lines.large;
    if (line.length === 0 && this.#fits(bytes)) return Promise.resolve(this.#lend(bytes, holder));
    if (line.length >= limits.budgetLineMax) return Promise.reject(busy('Too many bodies wait.'));
    this.#startWatch();
    return new Promise((grant) => {
      line.push({ bytes, holder, grant });
    });
  }

  #fits(bytes: number): boolean {
    const kept = isSmall(bytes) ? 0 : limits.smallShareBytes;
    return this.#taken + bytes <= this.bytesMax - kept;
  }

  #lend(bytes: number, holder: Holder): () => void {
    const lease = { holder, at: performance.now(), bytesCome: holder.bytesCome };
    this.#taken += bytes;
    this.#leases.add(lease);
    return () => {
      if (!this.#leases.delete(lease)) return;
      this.#taken -= bytes;
      this.#serve();
    };
  }

  #serve(): void {
    const { small, large } = this.#lines;
    for (const line of [small, large]) {
      while (line.length > 0 && this.#fits(line[0]!.bytes)) {
        const { bytes, holder, grant } = line.shift()!;
        grant(this.#lend(bytes, holder));
      }
    }
    if (small.length + large.length > 0 || !this.#watch) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }

  #startWatch(): void {
    if (this.#watch) return;
    const now = performance.now();
    // While nobody waited, nobody had to hurry.
    for (const lease of this.#leases) look(lease, now);
    this.#watch = setInterval(() => this.#checkProgress(), checkMs).unref();
  }

  #checkProgress(): void {
    const now = performance.now();
    for (const lease of this.#leases) {
      const ms = now - lease.at;
      if (ms < progressMs || lease.holder.complete) continue;
      const owed = (ms / 1_000) * this.#bytesASecondMin;
      if (lease.holder.bytesCome - lease.bytesCome >= owed) look(lease, now);
      else lease.holder.giveWay(busy('This body came too slowly while others waited.'));
    }
  }
}

function isSmall(bytes: number): boolean {
  return bytes <= limits.smallBodyBytesMax;
}

function look(lease: Lease, now: number): void {
  lease.at = now;
  lease.bytesCome = lease.holder.bytesCome;
}

function busy(why: string): ApiError {
  return new ApiError(503, 'internal', `${why} Try again.`, { headers: { 'Retry-After': '5' } });
}
