import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PairIds } from '../../src/std/pair-ids.ts';
import { PrintIds } from '../../src/std/print-ids.ts';
import { TextIds } from '../../src/std/text-ids.ts';

describe('texts are numbered', () => {
  test('in the order in which they first come, as a Map does it', () => {
    const ids = new TextIds();
    const oracle = new Map<string, number>();
    // Far more than are kept as texts, each twice, short and long, with characters of all widths.
    const text = (i: number) =>
      `${i}${'aé漢\u{1f600}'.slice(0, i % 5 === 4 ? 5 : i % 5)}`.repeat(1 + (i % 3));
    for (let i = 0; i < 120_000; i++) {
      const one = text((i * 7_919) % 60_000);
      if (!oracle.has(one)) oracle.set(one, oracle.size);
      if (ids.idOf(one) !== oracle.get(one)) expect.fail(`${one} has another number`);
    }
    expect(ids.size).toBe(oracle.size);
    expect(oracle.size).toBeGreaterThan(50_000);
  });

  test('the same as strings and as bytes, torn surrogates included', () => {
    const ids = new TextIds();
    const texts = [
      '',
      'a',
      'é漢\u{1f600}',
      '\ud800',
      '\udc00',
      'a\ud800b',
      '\ufffd',
      'x'.repeat(5_000),
    ];
    for (const [i, text] of texts.entries()) {
      if (!text.isWellFormed()) expect(ids.idOf(text)).toBe(i);
      const bytes = Buffer.from(`,${text},`);
      if (text.isWellFormed()) expect(ids.idOfBytes(bytes, 1, bytes.length - 1)).toBe(i);
      expect(ids.idOf(text)).toBe(i);
      expect(ids.textOf(i)).toBe(text);
    }
    expect(ids.size).toBe(texts.length);
  });

  test('however long they are', () => {
    const ids = new TextIds();
    for (let i = 0; i < 16_384; i++) ids.idOf(String(i));
    const some = 'x'.repeat(2_999_999);
    const long = [`${some}x`, '', 'é'.repeat(600_000), 'y', `${some}y`];
    const found = [...long, ...long].map((text) => ids.idOf(text) - 16_384);
    expect(found).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });
});

test('pairs are numbered in the order in which they first come', () => {
  const pair = fc.tuple(
    fc.nat(60),
    fc.nat(2 ** 31 - 1).map((n) => n % 90),
  );
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 6_000 }), (pairs) => {
      const ids = new PairIds();
      const oracle = new Map<string, number>();
      for (const [first, second] of pairs) {
        const name = `${first} ${second}`;
        if (!oracle.has(name)) oracle.set(name, oracle.size);
        if (ids.idOf(first, second) !== oracle.get(name)) expect.fail(`${name} is misjudged`);
      }
      expect(ids.size).toBe(oracle.size);
    }),
    { numRuns: 30 },
  );
  const ids = new PairIds();
  for (let i = 0; i < 50_000; i++) expect(ids.idOf(i, 2 ** 31 - 1 - i)).toBe(i);
  for (let i = 0; i < 50_000; i++) if (ids.idOf(i, 2 ** 31 - 1 - i) !== i) expect.fail(`${i}`);
});

test('texts are numbered by their prints in the order in which they first come', () => {
  const ids = new PrintIds();
  for (let i = 0; i < 20_000; i++) expect(ids.idOf(`text ${i}`)).toBe(i);
  for (let i = 0; i < 20_000; i++) if (ids.idOf(`text ${i}`) !== i) expect.fail(`${i}`);
});

test('what is new beyond the most has no number, what is known keeps its own', () => {
  const texts = new TextIds(3);
  expect(['a', 'b', 'c', 'd', 'a', 'd', 'c'].map((text) => texts.idOf(text))).toEqual([
    ...[0, 1, 2, -1, 0, -1, 2],
  ]);
  const pairs = new PairIds(2);
  const found = [1, 2, 3, 1, 3].map((first) => pairs.idOf(first, -first));
  expect(found).toEqual([0, 1, -1, 0, -1]);
});
