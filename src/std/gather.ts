import { assert } from './assert.ts';

/** All absent: one group at a time, of everything that waits, however much it is. */
export interface GatherLimits<T> {
  /** Items in one group. */
  readonly groupMax?: number;
  /** The sum of `weigh` over one group; an item that is heavier alone leaves alone. */
  readonly weightMax?: number;
  weigh?(item: T): number;
  /** Groups under way at once. */
  readonly atOnce?: number;
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
 * Gathers calls into groups. An item that may leave (none is under way) leaves with all that comes
 * in the same turn of the event loop; else it waits until a group returns, and leaves with all
 * that waits by then. So a lone caller never waits for company, and under load one costly step (a
 * sync to disk, a request) is shared by many.
 *
 * Ordering: groups are sent, and items stand in them, in the order of their coming.
 * Failure: a failed group rejects its own items only; the next one is sent as usual.
 */
export class Gather<T, R> {
  readonly #send: (group: T[]) => Promise<readonly R[]>;
  readonly #limits: GatherLimits<T>;
  #waiting: Waiting<T, R>[] = [];
  #underWay = 0;
  #turnComes = false;
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
      const { atOnce = 1 } = this.#limits;
      if (this.#turnComes || this.#underWay >= atOnce) return;
      this.#turnComes = true;
      setImmediate(() => {
        this.#turnComes = false;
        this.#sendMore();
      });
    });
  }

  /** Resolves when nothing waits or is under way any more. */
  async idle(): Promise<void> {
    while (this.#underWay > 0 || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  #sendMore(): void {
    const { atOnce = 1 } = this.#limits;
    while (!this.#turnComes && this.#waiting.length > 0 && this.#underWay < atOnce) {
      void this.#run(this.#take());
    }
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
    this.#underWay += 1;
    try {
      const answers = await this.#send(group.map((one) => one.item));
      assert(answers.length === group.length, 'each item of a group has its answer');
      for (const [i, one] of group.entries()) one.resolve(answers[i]!);
    } catch (error) {
      for (const one of group) one.reject(error);
    }
    this.#underWay -= 1;
    this.#sendMore();
    if (this.#underWay > 0 || this.#waiting.length > 0) return;
    for (const tell of this.#onIdle.splice(0)) tell();
  }
}
