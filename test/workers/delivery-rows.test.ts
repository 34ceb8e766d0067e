import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleRowEncoder } from '../../src/domain/sample-row.ts';
import { deliveryRows } from '../../workers/delivery-rows.ts';
import { RowBytes } from '../../workers/row-bytes.ts';
import { sampleWriter } from '../../workers/sample-writer.ts';
import { decoded, someInput } from './some-delivery.ts';

describe('gathered rows', () => {
  test('come as the bytes of all of them, in order, with a buffer of their own', () => {
    const rows = new RowBytes(10_000_000);
    const texts = Array.from({ length: 40_000 }, (_, i) => `${i} é \u{1f600}\n`);
    for (const text of texts) rows.row(text);
    const bytes = rows.take();
    expect(Buffer.from(bytes).equals(Buffer.from(texts.join('')))).toBe(true);
    expect(bytes.byteLength).toBe(bytes.buffer.byteLength);
    expect(rows).toMatchObject({ count: 40_000, overflowed: false });
  });

  test('take whole numbers, ASCII and bytes piece by piece', () => {
    const integer = fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 });
    const row = fc.tuple(integer, fc.stringMatching(/^[ -~]{0,90}$/));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 9 }), (some) => {
        const rows = new RowBytes(10_000_000);
        let expected = '';
        // Enough of them to cross a page's end at any piece.
        while (expected.length < 270_000) {
          for (const [number, text] of some) {
            rows.integer(number);
            rows.bytes(Buffer.from('é'));
            rows.ascii(text);
            rows.endRow();
            expected += `${number}é${text}\n`;
          }
        }
        expect(Buffer.from(rows.take()).equals(Buffer.from(expected))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test.each([0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, 2_147_483_647])(
    'write %i in decimal digits, with and without a minus',
    (number) => {
      const rows = new RowBytes(100);
      rows.integer(number);
      rows.integer(-number);
      expect(Buffer.from(rows.take()).toString()).toBe(`${number}${-number}`);
    },
  );

  test('that are none are an empty array', () => {
    expect(new RowBytes(10).take()).toHaveLength(0);
  });

  test.each([1, 100, 300_000])('may fill their bound of %i, but not a byte more', (rowBytes) => {
    const filled = (bytesMax: number) => {
      const rows = new RowBytes(bytesMax);
      for (let i = 0; i < 7; i++) rows.row('x'.repeat(rowBytes));
      return rows;
    };
    const full = filled(7 * rowBytes);
    expect(full.take()).toHaveLength(7 * rowBytes);
    expect(full.overflowed).toBe(false);
    const over = filled(7 * rowBytes - 1);
    expect(over.take()).toHaveLength(0);
    expect(over.overflowed).toBe(true);
  });
});

test('samples are written as the encoder of their rows gives them', () => {
  const rows = new RowBytes(1_000_000);
  const base = { ...someInput({ sandbox: true }), sequence: 2 ** 40 };
  const write = sampleWriter(base, rows);
  const encode = sampleRowEncoder(base);
  const texts = ['', 'a', 'Köln\t"\\', '\u{1f600}\n\0'];
  let expected = '';
  for (const [i, day] of [-25_567, -1, 0, 1, 120_529].entries()) {
    for (const [id, text] of texts.entries()) {
      const labels = { id, json: JSON.stringify({ shop: text }) };
      const metric = { key: `m${i % 2}`, index: i % 2, labelSet: null };
      write({ day, metric, labels, value: `-0.${i}` }, i + 1);
      expected += encode(day, metric.key, labels.json, `-0.${i}`, i + 1);
    }
  }
  expect(Buffer.from(rows.take()).toString()).toBe(expected);
});

describe('a delivery whose rows do not fit', () => {
  test.each<[string, string]>([
    ['samples', '1'],
    ['rejections', 'x'],
  ])('is refused as a whole for its %s', (_, value) => {
    const input = someInput();
    const finished = (records: number) => {
      const rows = deliveryRows(input, 100_000);
      for (let i = 0; i < records; i++) rows.record(['2024-05-01', 's', value, ''], i + 2);
      return decoded(input, rows.finish(null));
    };
    expect(finished(400)).toMatchObject({ refusal: null, counts: { records: 400 } });
    for (const records of [1_000, 5_000]) {
      expect(finished(records)).toMatchObject({
        status: 'rejected',
        refusal: { record: null, code: 'too_many_rows' },
        counts: { records: 0 },
        samples: [],
        rejections: [],
      });
    }
  });
});
