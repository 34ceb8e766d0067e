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

/** Labels that are kept written; what names more of them hardly names one twice. */
const writtenMax = 65_536;

/**
 * Numbers combinations of labels, in the order in which they first come, for one delivery. Few
 * label sets are named by many records: these are written as JSON once, and identities are
 * compared as numbers.
 */
export class LabelInterner {
  /** Of the labels' values. */
  readonly texts = new TextIds();
  readonly #sets;

  constructor(labelSets: readonly LabelSet[]) {
    this.#sets = labelSets.map((set) => ({
      write: labelsWriter(set.names),
      /** For each name after the first: (id so far, text's id) → id with it. */
      steps: set.names.slice(1).map(() => new PairIds()),
      written: [] as Labels[],
    }));
  }

  /** @param textIds the numbers in `texts` of the labels, in the order of the set's names */
  labelsOf(set: LabelSet, textIds: readonly number[]): Labels {
    const { write, steps, written } = this.#sets[set.index]!;
    let id = textIds.length === 0 ? 0 : textIds[0]!;
    for (let i = 0; i < steps.length; i++) id = steps[i]!.idOf(id, textIds[i + 1]!);
    const known = written[id];
    if (known !== undefined) return known;
    const json = write(textIds.map((textId) => JSON.stringify(this.texts.textOf(textId))));
    const labels = { id, json };
    if (id < writtenMax) written[id] = labels;
    return labels;
  }
}
