import { labelsWriter } from './labels.ts';
import type { LabelSet } from './shape-plan.ts';

/** The labels of a sample: `id` tells those of one label set apart within one delivery. */
export interface Labels {
  readonly id: number;
  /** Canonical JSON. */
  readonly json: string;
}

/** Numbers label texts, and the combinations of them, in the order in which they first come. */
export interface LabelInterner {
  text(text: string): number;
  /** @param ids of the texts, in the order of the label set's names */
  labels(set: LabelSet, ids: readonly number[]): Labels;
}

/** V8 copies parts shorter than this by itself. */
const slicedCharsMin = 13;

/** More texts than a body can hold; keeps a pair of ids within exact integers. */
const idsMax = 2 ** 26;

/**
 * Makes an interner for one delivery. Few label sets are named by many records: each is written
 * as JSON once, and identities are compared as numbers.
 */
export function labelInterner(labelSets: readonly LabelSet[]): LabelInterner {
  const idByText = new Map<string, number>();
  const jsonById: string[] = [];
  const sets = labelSets.map((set) => ({
    write: labelsWriter(set.names),
    /** For each name after the first: (id so far, text's id) → id with it. */
    steps: set.names.slice(1).map(() => new Map<number, number>()),
    labels: new Map<number, Labels>(),
  }));

  return {
    text(text) {
      let id = idByText.get(text);
      if (id === undefined) {
        id = jsonById.push(JSON.stringify(text)) - 1;
        idByText.set(ownCopy(text), id);
      }
      return id;
    },

    labels(set, ids) {
      const { write, steps, labels } = sets[set.index]!;
      let id = ids[0] ?? 0;
      for (let i = 0; i < steps.length; i++) {
        const pair = id * idsMax + ids[i + 1]!;
        let next = steps[i]!.get(pair);
        if (next === undefined) {
          next = steps[i]!.size;
          steps[i]!.set(pair, next);
        }
        id = next;
      }
      let known = labels.get(id);
      if (known === undefined) {
        known = { id, json: write(ids.map((textId) => jsonById[textId]!)) };
        labels.set(id, known);
      }
      return known;
    },
  };
}

/** A part of a long text keeps all of it in memory; a copy by way of bytes does not. */
function ownCopy(text: string): string {
  return text.length < slicedCharsMin ? text : Buffer.from(text, 'utf16le').toString('utf16le');
}
