import { describe, expect, test } from 'vitest';
import { deliveryRows } from '../../workers/delivery-rows.ts';
import { gatherRows } from '../../workers/row-bytes.ts';
import { decoded, someInput } from './some-delivery.ts';

describe('gathered rows', () => {
  test('come as the bytes of all of them, in order, with a buffer of their own', () => {
    const rows = gatherRows(10_000_000);
    const texts = Array.from({ length: 20_000 }, (_, i) => `${i} é \u{1f600}\n`);
    for (const text of texts) rows.add(text);
    const bytes = rows.take();
    expect(Buffer.from(bytes).equals(Buffer.from(texts.join('')))).toBe(true);
    expect(bytes.byteLength).toBe(bytes.buffer.byteLength);
    expect(rows).toMatchObject({ count: 20_000, overflowed: false });
  });

  test('that are none are an empty array', () => {
    expect(gatherRows(10).take()).toHaveLength(0);
  });

  test('may fill their bound, but not a byte more', () => {
    const full = gatherRows(200_000);
    for (let i = 0; i < 100_000; i++) full.add('é');
    expect(full.take()).toHaveLength(200_000);
    const over = gatherRows(199_999);
    for (let i = 0; i < 100_000; i++) over.add('é');
    expect(over.take()).toHaveLength(0);
    expect(over.overflowed).toBe(true);
  });
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
