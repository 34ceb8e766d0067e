import { PairIds } from '../std/pair-ids.ts';
import { TextIds } from '../std/text-ids.ts';
import { labelsWriter } from './labels.ts';
import type { LabelSet } from './shape-plan.ts';

/** The labels of a sample: `id` tells those of one label set apart within one delivery. */
export interface Labels {
  readonly id: number;
  /** Canonical JSON. */
  readonly json: string;
}

/** @param texts of the labels, in the order of the label set's names */
export type LabelInterner = (set: LabelSet, texts: readonly string[]) => Labels;

/** Labels that are kept written; what names more of them hardly names one twice. */
const writtenMax = 65_536;

/**
 * Numbers combinations of labels, in the order in which they first come, for one delivery. Few
 * label sets are named by many records: these are written as JSON once, and identities are
 * compared as numbers.
 */
export function labelInterner(labelSets: readonly LabelSet[]): LabelInterner {
  const textIds = new TextIds();
  const sets = labelSets.map((set) => ({
    write: labelsWriter(set.names),
    /** For each name after the first: (id so far, text's id) → id with it. */
    steps: set.names.slice(1).map(() => new PairIds()),
    written: [] as Labels[],
  }));

  return (set, texts) => {
    const { write, steps, written } = sets[set.index]!;
    let id = texts.length === 0 ? 0 : textIds.idOf(texts[0]!);
    for (let i = 0; i < steps.length; i++) {
      id = steps[i]!.idOf(id, textIds.idOf(texts[i + 1]!));
    }
    const known = written[id];
    if (known !== undefined) return known;
    const labels = { id, json: write(texts.map((text) => JSON.stringify(text))) };
    if (id < writtenMax) written[id] = labels;
    return labels;
  };
}
