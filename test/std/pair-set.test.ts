import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PairSet } from '../../src/std/pair-set.ts';

test('a set of pairs holds what a set of their texts holds', () => {
  const pair = fc.tuple(fc.nat(60), fc.integer({ min: -40, max: 40 }));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 6_000 }), (pairs) => {
      const set = new PairSet();
      const oracle = new Set<string>();
      for (const [first, second] of pairs) {
        const fresh = !oracle.has(`${first} ${second}`);
        oracle.add(`${first} ${second}`);
        if (set.add(first, second) !== fresh) expect.fail(`${first} ${second} is misjudged`);
      }
      expect(set.size).toBe(oracle.size);
    }),
    { numRuns: 30 },
  );
});

test('a set of pairs grows past its first slots, and takes the ends of 32 bits', () => {
  const set = new PairSet();
  for (let i = 0; i < 50_000; i++) expect(set.add(i, -i)).toBe(true);
  for (let i = 0; i < 50_000; i++) if (set.add(i, -i)) expect.fail(`${i} was forgotten`);
  expect(set.add(2 ** 31 - 1, -(2 ** 31))).toBe(true);
  expect(set.add(2 ** 31 - 1, -(2 ** 31))).toBe(false);
  expect(set.size).toBe(50_001);
});
