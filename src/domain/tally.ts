import { assert } from '../std/assert.ts';
import { PairIds } from '../std/pair-ids.ts';
import { PrintIds } from '../std/print-ids.ts';
import type { Labels } from './label-sets.ts';
import type { Counts } from './nouns.ts';
import type { JudgedRecord } from './records.ts';
import type { PlannedMetric } from './shape-plan.ts';

/**
 * Makes the accounting of one delivery (DECISIONS 2): records = parsed + rejected; over parsed
 * records, values seen = samples + blank + superseded within. A sample is superseded when a
 * later record has its metric, period and labels (DECISIONS 3), so `samples` counts identities.
 */
export class Tally {
  /** For each label set, by its place in the plan: numbers of the (labels, 32 days) that came. */
  readonly #stretches: PairIds[] = [];
  /** Of (labels, day) whose labels were not kept. */
  readonly #prints = new PrintIds();
  /** Two for each metric, by its place in the plan: a bit for each identity that has come. */
  readonly #seen: Uint8Array[] = [];
  #parsed = 0;
  #rejected = 0;
  #samples = 0;
  #blank = 0;
  #supersededWithin = 0;

  /** Takes the next record. */
  add(judged: JudgedRecord): void {
    if (judged.problems.length > 0) {
      this.#rejected++;
      return;
    }
    this.parsed(judged.blank);
    for (const { metric, labels, day } of judged.samples) {
      this.sample(metric, this.identity(metric, labels, day));
    }
  }

  /** The next record was parsed; its samples are told one by one. */
  parsed(blank: number): void {
    this.#parsed++;
    this.#blank += blank;
  }

  /** The number of labels and day, which all metrics of a label set share. */
  identity({ labelSet }: PlannedMetric, labels: Labels, day: number): number {
    assert(labelSet !== null, 'a sample has labels');
    if (labels.id < 0) return 2 * this.#prints.idOf(`${labelSet.index} ${day} ${labels.json}`) + 1;
    const stretches = this.#stretches[labelSet.index] ?? new PairIds();
    this.#stretches[labelSet.index] = stretches;
    // Days come in series: numbered by 32 of them there are fewer to keep, and those are near.
    return 2 * (32 * stretches.idOf(labels.id, day >> 5) + (day & 31));
  }

  /** @param identity of its labels and day */
  sample({ index }: PlannedMetric, identity: number): void {
    // Both ways of numbering begin at 0; the last bit tells them apart.
    const which = 2 * index + (identity & 1);
    const byte = identity >>> 4;
    const bit = 1 << ((identity >>> 1) & 7);
    let seen = this.#seen[which];
    if (seen === undefined || byte >= seen.length) {
      const more = new Uint8Array(Math.max(16, 2 * byte));
      if (seen !== undefined) more.set(seen);
      this.#seen[which] = more;
      seen = more;
    }
    if ((seen[byte]! & bit) === 0) this.#samples++;
    else this.#supersededWithin++;
    seen[byte]! |= bit;
  }

  counts(): Counts {
    return {
      records: this.#parsed + this.#rejected,
      parsed: this.#parsed,
      rejected: this.#rejected,
      samples: this.#samples,
      blank: this.#blank,
      supersededWithin: this.#supersededWithin,
    };
  }
}
