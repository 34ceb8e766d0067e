import { PairSet } from '../std/pair-set.ts';
import type { Counts } from './nouns.ts';
import type { JudgedRecord } from './records.ts';

/** Counts what the records of one delivery gave. */
export interface Tally {
  /** Takes the next record. */
  add(judged: JudgedRecord): void;
  counts(): Counts;
}

/**
 * Makes the accounting of one delivery (DECISIONS 2): records = parsed + rejected; over parsed
 * records, values seen = samples + blank + superseded within. A sample is superseded when a
 * later record has its metric, period and labels (DECISIONS 3), so `samples` counts identities.
 */
export function makeTally(): Tally {
  /** For each metric, by its place in the plan: the (labels, day) that have come. */
  const seen: PairSet[] = [];
  let parsed = 0;
  let rejected = 0;
  let samples = 0;
  let blank = 0;
  let supersededWithin = 0;

  return {
    add(judged) {
      if (judged.problems.length > 0) {
        rejected++;
        return;
      }
      parsed++;
      blank += judged.blank;
      for (const { metric, labels, day } of judged.samples) {
        let identities = seen[metric.index];
        if (identities === undefined) {
          identities = new PairSet();
          seen[metric.index] = identities;
        }
        if (identities.add(labels.id, day)) samples++;
        else supersededWithin++;
      }
    },

    counts() {
      return { records: parsed + rejected, parsed, rejected, samples, blank, supersededWithin };
    },
  };
}
