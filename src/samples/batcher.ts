import { limits } from '../domain/limits.ts';
import type { EncodedRows, SampleStore } from './samples.ts';

export interface BatcherOptions {
  readonly store: Pick<SampleStore, 'insert'>;
  readonly rowsMax?: number;
  readonly bytesMax?: number;
  readonly rowsWorth?: number;
  readonly bytesWorth?: number;
  readonly waitMs?: number;
  readonly spacingMs?: number;
  /** Of rows handed over and not yet durable; above it `room` waits. */
  readonly bytesHeldMax?: number;
  readonly timers?: Timers;
}

export interface Timers {
  now(): number;
  /** @returns a function that takes the call back */
  after(ms: number, call: () => void): () => void;
}

interface Entry {
  readonly rows: EncodedRows;
  readonly rowCount: number;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const systemTimers: Timers = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Gathers the rows of many deliveries into one insert: ClickHouse wants few large inserts, a lone
 * small delivery wants to be readable soon.
 *
 * An insert leaves when what is gathered has `#rowsWorth` rows or `#bytesWorth` bytes, or when its
 * oldest entry has waited `#waitMs` and the insert before left `#spacingMs` ago; never while one is
 * under way, and what comes meanwhile gathers, up to `#rowsMax` and `#bytesMax` for one insert.
 * Entries leave in the order they came, whole: one entry above a maximum is an insert of its own.
 *
 * States: idle (nothing gathered, none under way), gathering (a timer runs for the oldest entry),
 * inserting (one under way, `#waiting` may gather; no timer), closed (inserts what is left).
 */
export class InsertBatcher {
  readonly #store: Pick<SampleStore, 'insert'>;
  readonly #rowsMax: number;
  readonly #bytesMax: number;
  readonly #rowsWorth: number;
  readonly #bytesWorth: number;
  readonly #waitMs: number;
  readonly #spacingMs: number;
  readonly #bytesHeldMax: number;
  readonly #timers: Timers;

  #waiting: Entry[] = [];
  #waitingRows = 0;
  #waitingBytes = 0;
  #inserting: Promise<void> | null = null;
  #insertingBytes = 0;
  #leftAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | null = null;
  #roomSeekers: (() => void)[] = [];
  #closed = false;

  constructor(options: BatcherOptions) {
    this.#store = options.store;
    this.#rowsMax = options.rowsMax ?? limits.insertRowsMax;
    this.#bytesMax = options.bytesMax ?? limits.insertBytesMax;
    this.#rowsWorth = Math.min(options.rowsWorth ?? limits.insertRowsWorth, this.#rowsMax);
    this.#bytesWorth = Math.min(options.bytesWorth ?? limits.insertBytesWorth, this.#bytesMax);
    this.#waitMs = options.waitMs ?? limits.insertWaitMs;
    this.#spacingMs = options.spacingMs ?? limits.insertSpacingMs;
    this.#bytesHeldMax = options.bytesHeldMax ?? this.#bytesMax;
    this.#timers = options.timers ?? systemTimers;
  }

  /** Bytes handed over and not yet durable. */
  get bytesHeld(): number {
    return this.#waitingBytes + this.#insertingBytes;
  }

  /**
   * Resolves when there is room for more rows. Who makes rows waits for it before making them:
   * that is what bounds the bytes held, to `#bytesHeldMax` and what its callers make at once.
   */
  async room(): Promise<void> {
    while (this.bytesHeld >= this.#bytesHeldMax) {
      await new Promise<void>((resolve) => this.#roomSeekers.push(resolve));
    }
  }

  /**
   * Hands over the rows of one delivery; their memory must not change until this settles.
   * Resolves when they are durable and readable.
   *
   * @throws whatever the insert they were part of threw; some of its rows may be in
   */
  add(rows: EncodedRows, rowCount: number): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the batcher is closed'));
    const bytes = bytesOf([...rows.samples, ...(rows.reparsed ?? []), ...rows.rejections]);
    if (bytes === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, rowCount, bytes, since: this.#timers.now(), resolve, reject });
      this.#waitingRows += rowCount;
      this.#waitingBytes += bytes;
      this.#proceed();
    });
  }

  /** Inserts what is gathered, then resolves; later adds are refused. Never throws. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#proceed();
    while (this.#inserting !== null) await this.#inserting;
  }

  /** Starts an insert if one is due and none is under way; else waits for the oldest entry. */
  #proceed(): void {
    const oldest = this.#waiting[0];
    if (this.#inserting !== null || oldest === undefined) return;
    const dueAt = Math.max(oldest.since + this.#waitMs, this.#leftAt + this.#spacingMs);
    const remainingMs = dueAt - this.#timers.now();
    const isWorth = this.#waitingRows >= this.#rowsWorth || this.#waitingBytes >= this.#bytesWorth;
    if (isWorth || this.#closed || remainingMs <= 0) {
      this.#leftAt = this.#timers.now();
      this.#cancelTimer?.();
      this.#cancelTimer = null;
      this.#inserting = this.#insert(this.#take()).then(() => this.#inserted());
      return;
    }
    this.#cancelTimer ??= this.#timers.after(remainingMs, () => {
      this.#cancelTimer = null;
      this.#proceed();
    });
  }

  /** The entries of one insert, from the oldest on: as many as fit, at least one. */
  #take(): Entry[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      const fits = rows + entry.rowCount <= this.#rowsMax && bytes + entry.bytes <= this.#bytesMax;
      if (count > 0 && !fits) break;
      rows += entry.rowCount;
      bytes += entry.bytes;
      count += 1;
    }
    this.#waitingRows -= rows;
    this.#waitingBytes -= bytes;
    this.#insertingBytes = bytes;
    return this.#waiting.splice(0, count);
  }

  async #insert(entries: Entry[]): Promise<void> {
    try {
      await this.#store.insert({
        samples: entries.flatMap((entry) => entry.rows.samples),
        reparsed: entries.flatMap((entry) => entry.rows.reparsed ?? []),
        rejections: entries.flatMap((entry) => entry.rows.rejections),
      });
      for (const entry of entries) entry.resolve();
    } catch (error) {
      for (const entry of entries) entry.reject(error);
    }
  }

  #inserted(): void {
    this.#inserting = null;
    this.#insertingBytes = 0;
    const seekers = this.#roomSeekers;
    this.#roomSeekers = [];
    for (const seek of seekers) seek();
    this.#proceed();
  }
}

function bytesOf(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0);
}
