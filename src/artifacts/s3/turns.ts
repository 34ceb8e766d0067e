import { assert } from '../../std/assert.ts';

export interface TurnLimits {
  readonly atOnce: number;
  /** Callers that may wait for their turn, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** A turn that has rested for so long is lent to who waits. */
  readonly restMs: number;
  /** Turns lent at once. For one more, the one lent first gives way, if it rests for so long. */
  readonly lentMax: number;
  readonly stalledMs: number;
}

/**
 * Lets at most `atOnce` callers in at a time; the others wait in the order they came.
 *
 * A turn may rest while its holder has nothing to do. While others wait, one that has rested for
 * `restMs` is lent: the next one comes in, and the holder waits again when it goes on. So nobody
 * waits for a holder who stalls.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #waiting = new Set<() => void>();
  /** The longest first. */
  readonly #resting = new Set<Turn>();
  readonly #lent = new Set<Turn>();
  #taken = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Beyond `waitingMax` waiting callers, and after `waitMs` of waiting, callers are refused. */
  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when it is the caller's turn, who must `end` it; rejects when refused or aborted.
   *
   * @param giveWay called when the turn was lent and must be ended
   */
  async take(signal: AbortSignal, giveWay: (reason: Error) => void = () => {}): Promise<Turn> {
    await this.#enter(signal);
    return new Turn({
      giveWay,
      enter: () => this.#enter(signal),
      rests: (turn) => {
        this.#resting.add(turn);
        this.#lend();
      },
      restsNoMore: (turn) => void this.#resting.delete(turn),
      lentNoMore: (turn) => void this.#lent.delete(turn),
      free: () => this.#free(),
    });
  }

  async #enter(signal: AbortSignal): Promise<void> {
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
    this.#lend();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Lends what has rested long enough to those who wait, and looks again when more has. */
  #lend(): void {
    const { restMs, lentMax, stalledMs } = this.#limits;
    while (this.#timer === null && this.#waiting.size > 0) {
      const [longest] = this.#resting;
      if (!longest) return;
      const [lentFirst] = this.#lent;
      const mustGo = lentFirst && this.#lent.size >= lentMax ? lentFirst : null;
      const dueAt = Math.max(
        longest.restedSince + restMs,
        mustGo ? mustGo.restedSince + stalledMs : 0,
      );
      const leftMs = dueAt - performance.now();
      if (leftMs > 0) {
        // What is lent may come back sooner.
        const lookAgainMs = Math.min(leftMs, restMs);
        this.#timer = setTimeout(() => {
          this.#timer = null;
          this.#lend();
        }, lookAgainMs);
        return;
      }
      mustGo?.giveWay(new Error('it stalled while others waited'));
      this.#resting.delete(longest);
      this.#lent.add(longest);
      longest.lend();
      this.#free();
    }
  }

  /** Who waits longest takes the turn over. */
  #free(): void {
    assert(this.#taken > 0, 'a turn is freed once');
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#taken -= 1;
  }
}

/** What a turn asks of those that it is one of. */
interface TurnParts {
  readonly giveWay: (reason: Error) => void;
  enter(): Promise<void>;
  rests(turn: Turn): void;
  restsNoMore(turn: Turn): void;
  lentNoMore(turn: Turn): void;
  free(): void;
}

/**
 * One caller's turn.
 *
 * States: `held` ⇄ `resting` → `lent` (another has it) → `waiting` for it again → `held`; from
 * each of them → `ended`.
 */
export class Turn {
  readonly #parts: TurnParts;
  #state: 'held' | 'resting' | 'lent' | 'waiting' | 'ended' = 'held';
  restedSince = 0;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Its holder has nothing to do for now. */
  rest(): void {
    if (this.#state !== 'held') return;
    this.#state = 'resting';
    this.restedSince = performance.now();
    this.#parts.rests(this);
  }

  /** Resolves when the holder may go on; rejects as `Turns.take` does, and the turn has ended. */
  async resume(): Promise<void> {
    if (this.#state === 'resting') {
      this.#parts.restsNoMore(this);
      this.#state = 'held';
    }
    if (this.#state !== 'lent') return;
    this.#state = 'waiting';
    this.#parts.lentNoMore(this);
    try {
      await this.#parts.enter();
    } catch (error) {
      this.#state = 'ended';
      throw error;
    }
    // Ended meanwhile: it came too late.
    if (this.#wasEnded()) this.#parts.free();
    else this.#state = 'held';
  }

  /** Called by those that it is one of: somebody else has it now. */
  lend(): void {
    assert(this.#state === 'resting', 'only a turn that rests is lent');
    this.#state = 'lent';
  }

  giveWay(reason: Error): void {
    this.#parts.giveWay(reason);
  }

  /** Safe to repeat. */
  end(): void {
    const state = this.#state;
    this.#state = 'ended';
    if (state === 'held' || state === 'resting') {
      this.#parts.restsNoMore(this);
      this.#parts.free();
    }
    if (state === 'lent') this.#parts.lentNoMore(this);
  }

  #wasEnded(): boolean {
    return this.#state === 'ended';
  }
}
