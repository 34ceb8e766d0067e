import type { Job } from '../catalog/catalog.ts';
import type { EncodedRows } from '../samples/samples.ts';
import { giveBack } from '../std/give-back.ts';
import type { HandedRows, RowPieces } from './messages.ts';

/** Where rows go. */
export interface RowTaker {
  /** Resolves when there is room for more rows. */
  room(): Promise<void>;
  /**
   * Resolves when the rows are durable and readable.
   *
   * @param job whose rows they are, for who watches
   */
  add(rows: EncodedRows, rowCount: number, job: Job): Promise<void>;
}

/**
 * Resolves when the rows are durable, beside what stands when the delivery is parsed again. Their
 * memory is given back then.
 */
export async function insertRows(job: Job, rows: RowPieces, taker: RowTaker): Promise<void> {
  const rowCount = rows.sampleRowCount + rows.rejectionRowCount;
  if (rowCount === 0) return;
  const { sampleRows, rejectionRows } = rows;
  const samples =
    job.generation > 0 ? { samples: [], reparsed: sampleRows } : { samples: sampleRows };
  await taker.add({ ...samples, rejections: rejectionRows }, rowCount, job);
  for (const piece of [...sampleRows, ...rejectionRows]) giveBack(piece);
}

/**
 * The rows of the deliveries of one task that come while they are parsed.
 *
 * Failure: when one insert fails, no more rows are taken, and `of` rejects with its error.
 */
export class HandedInserts {
  readonly #jobs: readonly Job[];
  readonly #taker: RowTaker;
  readonly #inserts = new Map<Job, Promise<void>[]>();
  #failed = false;

  constructor(jobs: readonly Job[], taker: RowTaker) {
    this.#jobs = jobs;
    this.#taker = taker;
  }

  /** Resolves when there is room for more; with false, when no more are wanted. */
  async take(rows: HandedRows): Promise<boolean> {
    const job = this.#jobs[rows.delivery]!;
    await this.#taker.room();
    if (this.#failed) return false;
    const insert = insertRows(job, rows, this.#taker);
    insert.catch(() => {
      this.#failed = true;
    });
    const known = this.#inserts.get(job);
    if (known) known.push(insert);
    else this.#inserts.set(job, [insert]);
    return true;
  }

  /** Whether rows of it have come. */
  has(job: Job): boolean {
    return this.#inserts.has(job);
  }

  /** Resolves when all rows of it that have come are durable; null when none have come. */
  of(job: Job): Promise<void> | null {
    const inserts = this.#inserts.get(job);
    return inserts ? Promise.all(inserts).then(() => {}) : null;
  }
}
