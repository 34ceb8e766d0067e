import { limits } from './limits.ts';

/** Compares two texts by their UTF-8 bytes, the order of label names and of samples. */
export function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * Writes labels as canonical JSON: names sorted by their UTF-8 bytes, text escaped as
 * `JSON.stringify` does, no spaces. Equal label sets give equal text, so it is part of a sample's
 * identity (DECISIONS 3).
 */
export function canonicalLabels(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).sort(compareUtf8);
  return labelsWriter(names)(names.map((name) => JSON.stringify(labels[name]!)));
}

/**
 * Prepares canonical JSON for one set of label names, already sorted.
 *
 * @returns a function of the values, each already JSON text, in the order of `names`
 */
export function labelsWriter(names: readonly string[]): (values: readonly string[]) => string {
  const heads = names.map((name, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  if (names.length === 0) return () => '{}';
  if (names.length === 1) return (values) => `${heads[0]}${values[0]}}`;
  return (values) => {
    let json = '';
    for (let i = 0; i < heads.length; i++) json += heads[i]! + values[i]!;
    return `${json}}`;
  };
}

/** Whether a label's text is over the limit, counted in code points (DECISIONS 2). */
export function labelTooLong(text: string): boolean {
  if (text.length <= limits.labelCharsMax) return false;
  if (text.length > 2 * limits.labelCharsMax) return true;
  let points = 0;
  for (const _ of text) points++;
  return points > limits.labelCharsMax;
}
