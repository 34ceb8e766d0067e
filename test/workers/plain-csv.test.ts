import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalProblem, isDecimal } from '../../src/domain/decimals.ts';
import type { Field, Metric } from '../../src/domain/nouns.ts';
import { deliveryRows } from '../../workers/delivery-rows.ts';
import { CsvReader } from '../../workers/read-csv.ts';
import { someInput } from './some-delivery.ts';

const metrics: Metric[] = [
  { key: 'revenue', name: 'Revenue', unit: 'EUR', labels: ['shop', 'place'] },
  { key: 'orders', name: 'Orders', unit: 'one', labels: ['shop'] },
  { key: 'staff', name: 'Staff', unit: 'one', labels: [] },
];
const shapes: Record<string, { fields: Field[]; headers: string[] }> = {
  wide: {
    fields: [
      { name: 'day', role: 'period' },
      { name: 'shop', role: 'label' },
      { name: 'place', role: 'label', required: false },
      { name: 'note', required: false },
      { name: 'revenue', role: 'value', metric: 'revenue' },
      { name: 'orders', role: 'value', metric: 'orders', required: false },
    ],
    headers: [
      'day,shop,place,revenue,orders',
      'place,shop,day,orders,revenue,note',
      'revenue,other,shop,day',
      'shop,revenue,place,day,orders',
    ],
  },
  long: {
    fields: [
      { name: 'month', role: 'period', grain: 'month' },
      { name: 'what', role: 'metric' },
      { name: 'shop', role: 'label', required: false },
      { name: 'amount', role: 'value' },
    ],
    headers: ['month,what,shop,amount', 'amount,what,month', 'shop,other,amount,month,what'],
  },
};

/** What becomes of a body in these pieces, by its bytes where that can be, or always as text. */
function parsed(
  fields: Field[],
  pieces: readonly Buffer[],
  how: 'plain' | 'text',
  delimiter = ',',
) {
  const rows = deliveryRows(someInput({ fields, metrics }), { heldMax: 1e8, bytesMax: 1e8 });
  let taken = 0;
  const { plainRecords } = rows;
  const watched = (columns: readonly number[]) => {
    const records = plainRecords!.call(rows, columns);
    return {
      take: (...args: Parameters<typeof records.take>) => {
        const took = records.take(...args);
        if (took) taken++;
        return took;
      },
    };
  };
  Object.defineProperty(rows, 'plainRecords', { value: how === 'plain' ? watched : null });
  const reader = new CsvReader(delimiter, rows);
  let problem = null;
  for (const piece of pieces) problem ??= reader.push(piece);
  problem ??= reader.end();
  const { sampleRows, rejectionRows, ...rest } = rows.finish(problem);
  const text = (blocks: readonly Uint8Array[]) => Buffer.concat(blocks).toString();
  const result = { ...rest, samples: text(sampleRows), rejections: text(rejectionRows) };
  return { result, taken };
}

function cutUp(body: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.filter((end) => end < body.length).toSorted((a, b) => a - b), body.length];
  return ends.map((end, i) => body.subarray(ends[i - 1] ?? 0, end));
}

const days = fc.constantFrom('2024-05-01', '2024-05-02', '2023-12-31', '2024-05', '1969-07-20');
const numbers = fc.constantFrom('1', '-0.50', '12.25', '007', '');
const words = fc.constantFrom('', 'Köln', '漢', 'a', 'b', '1');
const good: Record<string, fc.Arbitrary<string>> = {
  ...{ day: days, month: days, revenue: numbers, orders: numbers, amount: numbers },
  what: fc.constantFrom('revenue', 'orders', 'staff'),
};
const odd = fc.constantFrom(
  ...['"a"', '"a,""b"', '"a\nb"', 'a"b', '"', ' 1', '1e5', '+1', '.5', '5.', '--1', '1.2.3', '-'],
  ...['9'.repeat(76), '9'.repeat(77), `-${'9'.repeat(76)}`, '\0', '\r', 'a\rb', '2024-13-01'],
  ...[
    '1899-12-31',
    'x'.repeat(1_024),
    'é'.repeat(1_024),
    'é'.repeat(1_025),
    '2024-05-01T10:00:00Z',
  ],
);
const cell = (name: string) =>
  fc.oneof({ arbitrary: good[name] ?? words, weight: 100 }, { arbitrary: odd, weight: 1 });
const end = fc.constantFrom('\n', '\n', '\n', '\n', '\r\n', '\r\n', '\n\n', '\r\r\n');

function body(header: string) {
  const cells = header.split(',').map(cell);
  const row = fc.oneof(
    { arbitrary: fc.tuple(...cells), weight: 20 },
    { arbitrary: fc.array(words, { maxLength: cells.length + 1 }), weight: 1 },
  );
  return fc
    .tuple(fc.array(fc.tuple(row, end), { maxLength: 60 }), fc.constantFrom('', '\n'))
    .map(([rows, last]) => {
      const text = rows.map(([cells, lineEnd]) => `${cells.join(',')}${lineEnd}`).join('');
      return Buffer.from(`${header}\n${text}${last}`);
    });
}

describe('plain rows read by their bytes', () => {
  test.each(Object.entries(shapes))('of a %s shape give what they give as text', (_, shape) => {
    let taken = 0;
    const some = fc
      .constantFrom(...shape.headers)
      .chain((header) => fc.tuple(body(header), fc.array(fc.nat(3_000), { maxLength: 4 })));
    fc.assert(
      fc.property(some, ([bytes, cuts]) => {
        const pieces = cutUp(bytes, cuts);
        const plain = parsed(shape.fields, pieces, 'plain');
        expect(plain.result).toEqual(parsed(shape.fields, pieces, 'text').result);
        taken += plain.taken;
      }),
      { numRuns: 300 },
    );
    // Without this, nothing but text might have been compared.
    expect(taken).toBeGreaterThan(300);
  });

  test('are taken again behind a row that is not plain', () => {
    const { fields } = shapes.wide!;
    const row = (day: number, shop: string) =>
      `2024-05-${10 + day},${shop},here,${day}.50,${day}\n`;
    const rows = Array.from({ length: 20_000 }, (_, i) => row(i % 19, i === 7_000 ? '"q"' : 's'));
    const bytes = Buffer.from(`day,shop,place,revenue,orders\n${rows.join('')}`);
    const plain = parsed(fields, [bytes], 'plain');
    expect(plain.result).toEqual(parsed(fields, [bytes], 'text').result);
    expect(plain.taken).toBeGreaterThan(18_000);
    expect(plain.taken).toBeLessThan(20_000);
  });

  test('are counted exactly, however many labels there are', () => {
    const { fields } = shapes.wide!;
    const row = (i: number) => `2024-05-0${1 + (i % 2)},shop ${i % 40_001},b${i % 7},1,${i % 5}\n`;
    const rows = Array.from({ length: 100_000 }, (_, i) => row(i));
    const identities = new Set(
      rows.flatMap((text) => {
        const [day, shop, place] = text.split(',');
        return [`${day} ${shop} ${place}`, `${day} ${shop}`];
      }),
    );
    const bytes = Buffer.from(`day,shop,place,revenue,orders\n${rows.join('')}`);
    const plain = parsed(fields, [bytes], 'plain');
    expect(plain.result).toEqual(parsed(fields, [bytes], 'text').result);
    const { samples, supersededWithin } = plain.result.counts;
    expect([samples, samples + supersededWithin]).toEqual([identities.size, 200_000]);
    expect(plain.taken).toBe(100_000);
  });

  test('are split at tabs as at commas', () => {
    const { fields } = shapes.wide!;
    const bytes = Buffer.from('day\tshop\tplace\trevenue\n2024-05-01\ta,b\t\t1\n');
    const plain = parsed(fields, [bytes], 'plain', '\t');
    expect(plain.result).toEqual(parsed(fields, [bytes], 'text', '\t').result);
    expect(plain.result.samples).toContain('{"place":"","shop":"a,b"}');
    expect(plain.result.counts.samples).toBe(1);
  });
});

test('a decimal is one by its bytes when it is one as text', () => {
  const text = fc.oneof(
    fc.stringMatching(/^-?\d{0,3}\.?\d{0,3}$/),
    fc.string({ maxLength: 5 }),
    odd,
  );
  fc.assert(
    fc.property(text, (value) => {
      const bytes = Buffer.from(`9${value}9`);
      expect(isDecimal(bytes, 1, bytes.length - 1)).toBe(decimalProblem(value) === null);
    }),
    { numRuns: 5_000 },
  );
});
