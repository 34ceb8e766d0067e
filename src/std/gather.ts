import { assert } from './assert.ts';

/** All absent: one group at a time, of everything that waits, however much it is. */
export interface GatherLimits<T> {
  /** Items in one group. */
  readonly groupMax?: number;
  /** The sum of `weigh` over one group; an item that is heavier alone leaves alone. */
  readonly weightMax?: number;
  weigh?(item: T): number;
  /**
   * How long the next group is held for those who were just answered, as a share of the time that
   * theirs took, and in milliseconds at most. Absent: not at all.
   */
  readonly patience?: { readonly share: number; readonly msMax: number };
  /**
   * A group that takes so long does not keep the next from being sent; so many such groups at
   * once. Absent: the next waits for as long as it takes.
   */
  readonly overtake?: { readonly afterMs: number; readonly groupsMax: number };
  /** Items that may wait; `refuse` makes the error of the next one. */
  readonly waitingMax?: number;
  refuse?(): Error;
}

interface Waiting<T, R> {
  readonly item: T;
  resolve(answer: R): void;
  reject(error: unknown): void;
}

/**
 * Gathers calls into groups, one under way at a time. An item that finds none leaves with all that
 * comes in the same turn of the event loop; else it waits until the group returns, and leaves with
 * all that waits by then. So a lone caller never waits for company, and under load one costly step
 * (a sync to disk, a request) is shared by many.
 *
 * Callers who were answered together come back together. With `patience` the next group is held
 * for a while until they are there: otherwise the callers part into two halves that take turns,
 * each waiting for the other's step.
 *
 * One step that hangs would hold up everybody. With `overtake` it is left behind after a while: it
 * is still awaited, and counts no more as the one under way.
 *
 * Ordering: groups are sent, and items stand in them, in the order of their coming.
 * Failure: a failed group rejects its own items only; the next one is sent as usual.
 */
export class Gather<T, R> {
  readonly #send: (group: T[]) => Promise<readonly R[]>;
  readonly #limits: GatherLimits<T>;
  #waiting: Waiting<T, R>[] = [];
  #isUnderWay = false;
  /** Groups left behind that have not returned yet. */
  #overtaken = 0;
  #turnComes = false;
  /** While the next group is held: how many it is held for. */
  #held: { readonly until: NodeJS.Timeout; readonly wanted: number } | null = null;
  #onIdle: (() => void)[] = [];

  /** @param send answers each item of the group, in their order */
  constructor(send: (group: T[]) => Promise<readonly R[]>, limits: GatherLimits<T> = {}) {
    this.#send = send;
    this.#limits = limits;
  }

  /** Resolves with its answer when the group that holds `item` was sent. */
  add(item: T): Promise<R> {
    const { waitingMax = Infinity, refuse } = this.#limits;
    if (this.#waiting.length >= waitingMax) {
      return Promise.reject(refuse?.() ?? new Error(`${waitingMax} calls wait already`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isUnderWay) return;
      if (this.#held === null) this.#sendAfterTurn();
      else if (this.#waiting.length >= this.#held.wanted) this.#letGo();
    });
  }

  /** Resolves when nothing waits or is under way any more. */
  async idle(): Promise<void> {
    while (this.#isUnderWay || this.#overtaken > 0 || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  #sendAfterTurn(): void {
    if (this.#turnComes || this.#waiting.length === 0) return;
    this.#turnComes = true;
    setImmediate(() => {
      this.#turnComes = false;
      if (!this.#isUnderWay && this.#held === null) void this.#run(this.#take());
    });
  }

  #take(): Waiting<T, R>[] {
    const { groupMax = Infinity, weightMax = Infinity, weigh } = this.#limits;
    let count = 0;
    let weight = 0;
    for (const { item } of this.#waiting) {
      weight += weigh?.(item) ?? 0;
      if (count >= groupMax || (count > 0 && weight > weightMax)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #run(group: Waiting<T, R>[]): Promise<void> {
    this.#isUnderWay = true;
    const began = performance.now();
    const leftBehind = this.#leaveBehindWhenSlow();
    try {
      const answers = await this.#send(group.map((one) => one.item));
      assert(answers.length === group.length, 'each item of a group has its answer');
      for (const [i, one] of group.entries()) one.resolve(answers[i]!);
    } catch (error) {
      for (const one of group) one.reject(error);
    }
    if (leftBehind()) {
      this.#overtaken -= 1;
    } else {
      this.#isUnderWay = false;
      if (!this.#hold(group.length, performance.now() - began)) this.#sendAfterTurn();
    }
    if (this.#isUnderWay || this.#waiting.length > 0) return;
    for (const tell of this.#onIdle.splice(0)) tell();
  }

  /** @returns ends the watch over the group under way, and says whether it was left behind */
  #leaveBehindWhenSlow(): () => boolean {
    const { overtake } = this.#limits;
    if (!overtake) return () => false;
    let isLeftBehind = false;
    const look = setInterval(() => {
      if (this.#overtaken >= overtake.groupsMax) return;
      clearInterval(look);
      isLeftBehind = true;
      this.#overtaken += 1;
      this.#isUnderWay = false;
      this.#sendAfterTurn();
    }, overtake.afterMs);
    return () => {
      clearInterval(look);
      return isLeftBehind;
    };
  }

  /** Holds the next group for those who were in the last one. @returns whether it is held */
  #hold(answered: number, tookMs: number): boolean {
    const { patience, groupMax = Infinity } = this.#limits;
    const wanted = Math.min(answered + this.#waiting.length, groupMax);
    if (!patience || answered === 1 || this.#waiting.length >= wanted) return false;
    const ms = Math.min(patience.share * tookMs, patience.msMax);
    this.#held = { wanted, until: setTimeout(() => this.#letGo(), ms) };
    return true;
  }

  #letGo(): void {
    clearTimeout(this.#held?.until);
    this.#held = null;
    this.#sendAfterTurn();
  }
}
