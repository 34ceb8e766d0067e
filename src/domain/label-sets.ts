import { PairIds } from '../std/pair-ids.ts';
import { TextIds } from '../std/text-ids.ts';
import { labelsWriter } from './labels.ts';
import type { LabelSet } from './shape-plan.ts';

/** The labels of a sample. */
export interface Labels {
  /** Tells those of one label set apart within one delivery; −1 when they were not kept. */
  readonly id: number;
  /** Canonical JSON. */
  readonly json: string;
}

/** Texts, and combinations of them, that are kept; what names more of them hardly does so twice. */
const keptMax = 32_768;

/**
 * Numbers combinations of labels, in the order in which they first come, for one delivery. Few
 * label sets are named by many records: these are written as JSON once, and identities are
 * compared as numbers.
 */
export class LabelInterner {
  /** Of the labels' values. */
  readonly texts = new TextIds(keptMax);
  readonly #sets;

  constructor(labelSets: readonly LabelSet[]) {
    this.#sets = labelSets.map((set) => ({
      write: labelsWriter(set.names),
      /** For each name after the first: (id so far, text's id) → id with it. */
      steps: set.names.slice(1).map(() => new PairIds(keptMax)),
      written: [] as Labels[],
    }));
  }

  /**
   * @param textIds the numbers in `texts` of the labels, in the order of the set's names; −1 for
   *   one that is not kept
   * @returns null when they are not kept
   */
  kept(set: LabelSet, textIds: readonly number[]): Labels | null {
    const { write, steps, written } = this.#sets[set.index]!;
    let id = textIds.length === 0 ? 0 : textIds[0]!;
    for (let i = 0; i < steps.length && id >= 0; i++) {
      id = textIds[i + 1]! < 0 ? -1 : steps[i]!.idOf(id, textIds[i + 1]!);
    }
    if (id < 0) return null;
    const known = written[id];
    if (known !== undefined) return known;
    const json = write(textIds.map((textId) => JSON.stringify(this.texts.textOf(textId))));
    const labels = { id, json };
    written[id] = labels;
    return labels;
  }

  /** @param texts in the order of the set's names */
  notKept(set: LabelSet, texts: readonly string[]): Labels {
    const { write } = this.#sets[set.index]!;
    return { id: -1, json: write(texts.map((text) => JSON.stringify(text))) };
  }
}
