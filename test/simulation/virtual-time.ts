import { createRequire, syncBuiltinESMExports } from 'node:module';

/** Whose work an event is. What a dead one planned is dropped, what a paused one did waits. */
export interface Owner {
  readonly alive: boolean;
  /** Virtual milliseconds; not before then. */
  readonly pausedUntil: number;
}

interface Event {
  at: number;
  order: number;
  readonly owner: Owner | null;
  /** Null: taken back. */
  work: (() => void) | null;
  readonly repeatMs: number | null;
  /** It is run when its owner is dead, too. */
  readonly outlives: boolean;
}

/** One batch of real turns; between two of them Node runs all promises to their end. */
const turnsAtOnce = 64;

/**
 * Time that passes only when nothing is left to do, and a seeded order in place of chance.
 *
 * While it is installed, timers, `setImmediate`, sleeps, `Date.now` and `performance.now` are its
 * own. Each event is run in a real turn of the event loop, so that every promise that it settles
 * has run to its end before the next one: as between two timers of Node.
 */
export class VirtualTime {
  /** Milliseconds since the beginning of the run. */
  now = 0;
  /** Whose event is being run. */
  current: Owner | null = null;
  /** How far the system's clock was set forward, or back. */
  skewMs = 0;
  readonly #since1970: number;
  readonly #heap: Event[] = [];
  #order = 0;

  constructor(since1970: number) {
    this.#since1970 = since1970;
  }

  /** The system's clock, milliseconds since 1970. */
  get clock(): number {
    return this.#since1970 + this.skewMs + Math.floor(this.now);
  }

  /** @returns a function that takes the work back */
  after(ms: number, owner: Owner | null, work: () => void): () => void {
    const event = this.#plan(ms, owner, work);
    return () => {
      event.work = null;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, this.current, resolve));
  }

  /** Runs events until `done` says so. @throws Error when there is none left before */
  run(done: () => boolean): Promise<void> {
    const { setImmediate: realTurn } = real;
    return new Promise((resolve, reject) => {
      let ended = false;
      const turn = () => {
        if (ended) return;
        try {
          if (done()) resolve();
          else if (this.#step()) return;
          else throw new Error('nothing is left to do, and it is not done');
        } catch (error) {
          reject(error);
        }
        ended = true;
      };
      const batch = () => {
        if (ended) return;
        for (let i = 0; i < turnsAtOnce; i++) realTurn(turn);
        realTurn(batch);
      };
      batch();
    });
  }

  /** Puts itself in the place of the system's time. @returns takes it away again */
  install(): () => void {
    Object.assign(globalThis, this.#timers());
    Date.now = () => this.clock;
    performance.now = () => this.now;
    return () => {
      Object.assign(globalThis, real.timers);
      Date.now = real.dateNow;
      performance.now = real.performanceNow;
    };
  }

  #timers() {
    type Work = (...args: unknown[]) => void;
    const timer =
      (repeats: boolean) =>
      (work: Work, ms: number | undefined, ...args: unknown[]) => {
        const wait = Math.max(1, ms ?? 1);
        const planned = () => work(...args);
        return handleOf(
          this.#plan(wait, this.current, planned, { repeatMs: repeats ? wait : null }),
        );
      };
    const clear = (handle: Handle | null | undefined) => {
      if (handle) handle.event.work = null;
    };
    return {
      setTimeout: timer(false),
      setInterval: timer(true),
      // What a process of the past still has to put away in its memory does nobody harm.
      setImmediate: (work: Work, ...args: unknown[]) =>
        handleOf(this.#plan(0, this.current, () => work(...args), { outlives: true })),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
  }

  #plan(
    ms: number,
    owner: Owner | null,
    work: () => void,
    { repeatMs = null, outlives = false }: Partial<Pick<Event, 'repeatMs' | 'outlives'>> = {},
  ): Event {
    const order = this.#order++;
    const event = { at: this.now + ms, order, owner, work, repeatMs, outlives };
    push(this.#heap, event);
    return event;
  }

  #step(): boolean {
    const event = pop(this.#heap);
    if (!event) return false;
    const { owner, work } = event;
    if (work === null || (owner?.alive === false && !event.outlives)) return true;
    this.now = Math.max(this.now, event.at);
    if (owner?.alive && owner.pausedUntil > this.now) {
      event.at = owner.pausedUntil;
      push(this.#heap, event);
      return true;
    }
    this.current = owner;
    work();
    // Its promises run before the next event sets another owner.
    if (event.repeatMs !== null && event.work !== null) {
      event.at = this.now + event.repeatMs;
      event.order = this.#order++;
      push(this.#heap, event);
    }
    return true;
  }
}

const real = {
  setImmediate: globalThis.setImmediate,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
  timers: {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    setImmediate: globalThis.setImmediate,
    clearTimeout: globalThis.clearTimeout,
    clearInterval: globalThis.clearInterval,
    clearImmediate: globalThis.clearImmediate,
  },
};

/** In place of `node:timers/promises`: by the timers of the moment, whosever they are. */
const promisedTimers = {
  setTimeout: (ms: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = globalThis.setTimeout(() => resolve(value), ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
  setImmediate: (value?: unknown) =>
    new Promise((resolve) => globalThis.setImmediate(() => resolve(value))),
};

Object.assign(createRequire(import.meta.url)('node:timers/promises'), promisedTimers);
syncBuiltinESMExports();

interface Handle {
  readonly event: Event;
  ref(): Handle;
  unref(): Handle;
}

function handleOf(event: Event): Handle {
  const handle: Handle = { event, ref: () => handle, unref: () => handle };
  return handle;
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** A binary heap: the earliest event is the first. */
function push(heap: Event[], event: Event): void {
  let at = heap.length;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!isBefore(event, heap[above]!)) break;
    heap[at] = heap[above]!;
    at = above;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    const other = below + 1;
    if (other < heap.length && isBefore(heap[other]!, heap[below]!)) below = other;
    if (!isBefore(heap[below]!, last)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = last;
  return first;
}
