/** Calls at moments of a simulated clock, in their order; of one moment in the order of asking. */
export class Events {
  now = 0;
  readonly #at: number[] = [];
  readonly #order: number[] = [];
  readonly #calls: (() => void)[] = [];
  #asked = 0;

  /** @param at milliseconds; what is past already comes next */
  call(at: number, call: () => void): void {
    const order = this.#asked++;
    let place = this.#at.length;
    this.#at.push(0);
    this.#order.push(0);
    this.#calls.push(call);
    // Up in the heap, until the one above it comes earlier.
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isBefore(at, order, above)) break;
      this.#move(above, place);
      place = above;
    }
    this.#put(place, at, order, call);
  }

  /** Runs what is asked for until that moment. */
  runUntil(end: number): void {
    while (this.#at.length > 0 && this.#at[0]! <= end) {
      this.now = Math.max(this.now, this.#at[0]!);
      this.#takeFirst()();
    }
    this.now = end;
  }

  #takeFirst(): () => void {
    const first = this.#calls[0]!;
    const [at, order, call] = [this.#at.pop()!, this.#order.pop()!, this.#calls.pop()!];
    const count = this.#at.length;
    if (count === 0) return first;
    let place = 0;
    for (let below = 1; below < count; below = 2 * place + 1) {
      const right = below + 1;
      const isRight = right < count && this.#isBefore(this.#at[right]!, this.#order[right]!, below);
      const earlier = isRight ? right : below;
      if (this.#isBefore(at, order, earlier)) break;
      this.#move(earlier, place);
      place = earlier;
    }
    this.#put(place, at, order, call);
    return first;
  }

  #isBefore(at: number, order: number, other: number): boolean {
    const otherAt = this.#at[other]!;
    return at < otherAt || (at === otherAt && order < this.#order[other]!);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#at[from]!, this.#order[from]!, this.#calls[from]!);
  }

  #put(place: number, at: number, order: number, call: () => void): void {
    this.#at[place] = at;
    this.#order[place] = order;
    this.#calls[place] = call;
  }
}

/** So many equal workers and one line before them: each job goes to who is free first. */
export class Workers {
  readonly #freeAt: number[];
  /** Milliseconds of work that were given to them. */
  given = 0;

  constructor(count: number) {
    this.#freeAt = new Array<number>(count).fill(0);
  }

  /** @returns when a job is done that is given to them now */
  take(now: number, ms: number): number {
    let first = 0;
    for (let i = 1; i < this.#freeAt.length; i++) {
      if (this.#freeAt[i]! < this.#freeAt[first]!) first = i;
    }
    const done = Math.max(now, this.#freeAt[first]!) + ms;
    this.#freeAt[first] = done;
    this.given += ms;
    return done;
  }

  /** How long a job that is given now would wait. */
  waitMs(now: number): number {
    return Math.max(0, Math.min(...this.#freeAt) - now);
  }
}
