import { CatalogAway } from './catalog.ts';

/** What became of one entry of a group. */
export type Settled<A> = { readonly value: A } | { readonly error: Error };

interface Waiting<E, A> {
  readonly entry: E;
  resolve(value: A): void;
  reject(error: Error): void;
}

/**
 * Group commit: entries that come while a group is under way leave together when it returns; an
 * entry that finds none under way leaves at once. So a lone caller never waits for company, and
 * under load each sync to disk is shared by many.
 *
 * Ordering: one group at a time, entries in the order of their coming.
 * Failure: an entry fails alone, with the error `commit` gives for it. When `commit` itself
 * rejects, its whole group fails with that error; the next group is tried as usual.
 */
export class Groups<E, A> {
  readonly #commit: (entries: E[]) => Promise<Settled<A>[]>;
  readonly #groupMax: number;
  readonly #waitingMax: number;
  #waiting: Waiting<E, A>[] = [];
  #underWay: Promise<void> | null = null;

  /** @param most `group`: entries of one group; `waiting`: entries that may wait for theirs */
  constructor(
    commit: (entries: E[]) => Promise<Settled<A>[]>,
    most: { group: number; waiting: number },
  ) {
    this.#commit = commit;
    this.#groupMax = most.group;
    this.#waitingMax = most.waiting;
  }

  /** @throws CatalogAway when too many wait already */
  add(entry: E): Promise<A> {
    if (this.#waiting.length >= this.#waitingMax) {
      return Promise.reject(new CatalogAway('too many receipts wait for the catalog'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#underWay ??= this.#drain();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#underWay) await this.#underWay;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#groupMax);
      try {
        const answers = await this.#commit(group.map((one) => one.entry));
        for (const [i, one] of group.entries()) answer(one, answers[i]);
      } catch (error) {
        for (const one of group) one.reject(error as Error);
      }
    }
    this.#underWay = null;
  }
}

function answer<A>(one: Waiting<unknown, A>, settled: Settled<A> | undefined): void {
  if (settled === undefined) one.reject(new Error('assertion failed: each entry has its answer'));
  else if ('error' in settled) one.reject(settled.error);
  else one.resolve(settled.value);
}
