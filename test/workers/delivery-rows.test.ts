import { describe, expect, test } from 'vitest';
import { sampleRowEncoder } from '../../src/domain/sample-row.ts';
import { deliveryRows } from '../../workers/delivery-rows.ts';
import { RowBytes } from '../../workers/row-bytes.ts';
import { SampleWriter } from '../../workers/sample-writer.ts';
import { decoded, someInput } from './some-delivery.ts';

describe('gathered rows', () => {
  test('come as the bytes of all of them, in order, with a buffer of their own', () => {
    const rows = new RowBytes(10_000_000);
    const texts = Array.from({ length: 40_000 }, (_, i) => `${i} é \u{1f600}\n`);
    for (const text of texts) rows.row(text);
    const { pieces, count } = rows.take();
    expect(Buffer.concat(pieces).equals(Buffer.from(texts.join('')))).toBe(true);
    expect(new Set(pieces.map((piece) => piece.buffer)).size).toBe(pieces.length);
    expect(count).toBe(40_000);
    expect(rows).toMatchObject({ count: 40_000, overflowed: false, held: 0 });
    expect(rows.take()).toEqual({ pieces: [], count: 0 });
  });

  test('that are none are no pieces', () => {
    expect(new RowBytes(10).take()).toEqual({ pieces: [], count: 0 });
  });

  test('are let go when they are too many, and still counted', () => {
    const rows = new RowBytes(1_000_000);
    const text = `${'é'.repeat(50)}\n`;
    for (let i = 0; i < 20_000; i++) {
      rows.row(text);
    }
    expect(rows).toMatchObject({ overflowed: true, count: 20_000, held: 0 });
    expect(rows.bytesInAll).toBe(20_000 * 101);
    expect(rows.take()).toEqual({ pieces: [], count: 0 });
  });

  test('of one delivery are never seen in those of the next', () => {
    const first = new RowBytes(1_000);
    first.row('first\n');
    const { pieces } = first.take();
    first.close();
    const second = new RowBytes(1_000);
    second.row('second\n');
    expect(Buffer.concat(pieces).toString()).toBe('first\n');
    expect(Buffer.concat(second.take().pieces).toString()).toBe('second\n');
  });
});

test('samples are written as the encoder of their rows gives them', () => {
  const rows = new RowBytes(100_000_000);
  const base = { ...someInput({ sandbox: true }), sequence: 2 ** 40 };
  const writer = new SampleWriter(base, rows);
  const encode = sampleRowEncoder(base);
  const texts = ['', 'a', 'Köln\t"\\', '\u{1f600}\n\0', 'x'.repeat(300_000)];
  const records = [1, 9, 10, 99, 100, 999_999_999, 1_000_000_000, 2_147_483_647];
  let expected = '';
  for (const [i, day] of [-25_567, -1, 0, 1, 120_529].entries()) {
    for (const [id, text] of texts.entries()) {
      const labels = { id, json: JSON.stringify({ shop: text }) };
      const metric = { key: `m${i % 2}`, index: i % 2, labelSet: null };
      const record = records[(i + id) % records.length]!;
      writer.write({ day, metric, labels, value: `-0.${i}` }, record);
      expected += encode(day, metric.key, labels.json, `-0.${i}`, record);
      writer.writeBytes(metric, labels, day, Buffer.from(`,${i}.5,`), 1, 4, record);
      expected += encode(day, metric.key, labels.json, `${i}.5`, record);
    }
  }
  expect(Buffer.concat(rows.take().pieces).toString()).toBe(expected);
});

describe('a delivery whose rows do not fit', () => {
  test.each<[string, string]>([
    ['samples', '1'],
    ['rejections', 'x'],
  ])('is refused as a whole for its %s', (_, value) => {
    const input = someInput();
    const finished = (records: number) => {
      const rows = deliveryRows(input, { heldMax: 1_000_000, bytesMax: 100_000 });
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
