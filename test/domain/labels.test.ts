import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalLabels, compareUtf8, labelTooLong } from '../../src/domain/labels.ts';

describe('canonical labels', () => {
  test.each<[string, Record<string, string>, string]>([
    ['without labels are an empty object', {}, '{}'],
    ['are sorted by name', { b: '1', a: '2' }, '{"a":"2","b":"1"}'],
    ['sort capitals first', { a: '', B: '' }, '{"B":"","a":""}'],
    ['sort a name before what it begins', { ab: '', a: '' }, '{"a":"","ab":""}'],
    [
      'sort by UTF-8, not UTF-16',
      { '\u{1f600}': '', '\uff5e': '' },
      '{"\uff5e":"","\u{1f600}":""}',
    ],
    ['keep whole-number names sorted as text', { 10: 'x', 9: 'y' }, '{"10":"x","9":"y"}'],
    ['escape as JSON.stringify does', { a: '"\\\n\u0001é/' }, '{"a":"\\"\\\\\\n\\u0001é/"}'],
  ])('%s', (_, labels, json) => {
    expect(canonicalLabels(labels)).toBe(json);
  });

  test('read back as the same labels, whatever the order they came in', () => {
    const labels = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(labels, (all) => {
        const json = canonicalLabels(all);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(all)));
        const reversed = Object.fromEntries(Object.entries(all).reverse());
        expect(canonicalLabels(reversed)).toBe(json);
      }),
    );
  });

  test('have names in the order of their bytes, which is that of their code points', () => {
    const texts = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const byPoints = firstDifference([...a], [...b]);
        expect(Math.sign(compareUtf8(a, b))).toBe(byPoints);
      }),
    );
  });
});

describe('a label’s length', () => {
  test('is counted in code points', () => {
    expect(labelTooLong('x'.repeat(1024))).toBe(false);
    expect(labelTooLong('x'.repeat(1025))).toBe(true);
    expect(labelTooLong('\u{1f600}'.repeat(1024))).toBe(false);
    expect(labelTooLong('\u{1f600}'.repeat(1025))).toBe(true);
    expect(labelTooLong(`${'\u{1f600}'.repeat(1023)}xy`)).toBe(true);
  });
});

/** Compares two texts by code point, an end before all of them. */
function firstDifference(a: string[], b: string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i]?.codePointAt(0) ?? -1) - (b[i]?.codePointAt(0) ?? -1);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}
