import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { caseExists, conformance, conformancePage, headings } from './conformance.ts';

describe('the conformance table', () => {
  test('has every section of the specification, in its order', () => {
    expect(conformance.map((section) => section.heading)).toEqual(headings);
  });

  test('names a test for each sentence', () => {
    for (const { says, cases } of conformance.flatMap((section) => section.rows)) {
      expect([says, cases.length > 0]).toEqual([says, true]);
    }
  });

  test('names only tests that are there', () => {
    const all = conformance.flatMap((section) => section.rows.flatMap((row) => row.cases));
    const missing = all.filter(
      (one) => !existsSync(new URL(`${one.file}.ts`, import.meta.url)) || !caseExists(one),
    );
    expect(missing).toEqual([]);
  });

  test('would notice a test that is not there', () => {
    const file = 'protocol/door-cases';
    expect(caseExists({ file, title: 'an expired key is 401 everywhere' })).toBe(true);
    expect(caseExists({ file, title: 'an expired key is 200 everywhere' })).toBe(false);
    expect(caseExists({ file, title: 'expired key is 401 everywhere' })).toBe(false);
    // Text of that file, but no title.
    expect(caseExists({ file, title: 'insufficient_scope' })).toBe(false);
  });

  test('is what CONFORMANCE.md says (npm run conformance writes it)', () => {
    const page = readFileSync(new URL('../CONFORMANCE.md', import.meta.url), 'utf8');
    expect(page).toBe(conformancePage());
  });
});
