import { expect } from 'vitest';
import { dayToText } from '../../src/domain/periods.ts';
import { type ReadingApi, startReadingApi } from '../support/reading-api.ts';
import type { Stores } from './support.ts';

const window = { fromDay: 19_999, toDay: 20_010 };
const query = `from=${dayToText(window.fromDay)}&to=${dayToText(window.toDay)}`;

interface Seen {
  /** The generation of each delivery that is reported as parsed or rejected. */
  readonly reported: ReadonlyMap<string, string>;
  readonly late: number;
  /** By reader. */
  readonly answers: readonly string[];
}

/**
 * Holds the reads of two processes that keep answers, each with its own handle on the catalog,
 * against reads that nobody keeps.
 *
 * Both show the same from the moment in which anything is reported, or rows that came late are
 * settled away. In between a process may go on giving the answer that it gave before.
 */
export class KeptAnswers {
  readonly #stores: Stores;
  readonly #readers: readonly ReadingApi[];
  readonly #seen = new Map<string, Seen>();
  /** Of the answers that were compared: reported anew, and given again though rows were there. */
  readonly counts = { reads: 0, reported: 0, behind: 0 };

  private constructor(stores: Stores, readers: readonly ReadingApi[]) {
    this.#stores = stores;
    this.#readers = readers;
  }

  static async open(stores: Stores, clock: () => number): Promise<KeptAnswers> {
    const { store } = stores;
    const readers = [await startReadingApi(stores.catalog, store, clock)];
    readers.push(await startReadingApi(await stores.another(), store, clock));
    return new KeptAnswers(stores, readers);
  }

  get queries(): number {
    return this.#readers.reduce((sum, reader) => sum + reader.queries, 0);
  }

  /**
   * @param late how often rows of this source that came late were settled away so far
   * @param quiet no rows are there that are not reported
   */
  async check(sourceId: string, late: number, quiet = false): Promise<void> {
    const answers: string[] = [];
    for (const reader of this.#readers) answers.push(await reader.read(sourceId, query));
    const { store, catalog } = this.#stores;
    const { json } = await store.window({ sourceId, ...window, limit: 5_000 });
    const now = JSON.stringify(JSON.parse(json.toString()));
    const list = await catalog.deliveries.list(sourceId, { limit: 10_000 });
    const settled = list.filter(({ status }) => status === 'parsed' || status === 'rejected');
    const reported = new Map(
      settled.map((one) => [one.artifactId, `${one.generation} ${one.status}`]),
    );
    const before = this.#seen.get(sourceId);
    const anew = [...reported].some(([id, what]) => before?.reported.get(id) !== what);
    const mustShow = quiet || anew || before === undefined || late !== before.late;
    for (const [i, answer] of answers.entries()) {
      this.counts.reads += 1;
      if (mustShow) expect(answer).toBe(now);
      else expect([now, before.answers[i]]).toContain(answer);
      if (answer !== now) this.counts.behind += 1;
    }
    if (anew) this.counts.reported += 1;
    this.#seen.set(sourceId, { reported, late, answers });
  }

  async close(): Promise<void> {
    for (const reader of this.#readers) await reader.stop();
  }
}
