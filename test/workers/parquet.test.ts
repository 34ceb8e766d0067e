import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import type { ParseInput } from '../../src/parse/messages.ts';
import { parsed, someFields } from './some-delivery.ts';

type Options = Omit<Parameters<typeof parquetWriteBuffer>[0], 'columnData'>;
type Column = Parameters<typeof parquetWriteBuffer>[0]['columnData'][number];

const days = (count: number): Column => ({
  name: 'day',
  data: Array.from({ length: count }, () => '2024-05-01'),
  type: 'STRING',
});
const shops = (count: number): Column => ({
  name: 'shop',
  data: Array.from({ length: count }, (_, i) => `s${i}`),
  type: 'STRING',
});

function file(columnData: Column[], options: Options = {}): Buffer {
  // The writer wants the types in one place.
  const columns = options.schema ? columnData.map(({ type: _, ...rest }) => rest) : columnData;
  return Buffer.from(parquetWriteBuffer({ columnData: columns, ...options }));
}

function read(body: Buffer, change: Partial<ParseInput> = {}) {
  return parsed(body, { format: 'parquet', ...change });
}

/** A file with one column declared by hand beside the others; `field` is its name. */
function declared(field: string, element: Partial<SchemaElement>, data: unknown[], more = {}) {
  const others = [days(data.length), shops(data.length)].filter(({ name }) => name !== field);
  const columns = [...others, { name: field, data: data as never[], ...more }];
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const;
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...others.map(({ name }) => ({ name, ...text })),
    { name: field, repetition_type: 'OPTIONAL', ...element } as SchemaElement,
  ];
  return file(columns, { schema });
}

/** What the value cells of such a column give: the sample's value or the rejection's code. */
async function values(element: Partial<SchemaElement>, data: unknown[], more = {}) {
  const { samples, rejections } = await read(declared('revenue', element, data, more));
  const found: string[] = data.map(() => 'blank');
  for (const { record, value } of samples) found[record - 1] = value;
  for (const line of rejections) {
    const [, record, code] = /^(\d+)\.0 line NULL revenue (.*)$/.exec(line)!;
    found[Number(record) - 1] = code!;
  }
  return found;
}

describe('a file', () => {
  test('gives its rows, in all row groups', async () => {
    const count = 2_500;
    const revenue = Array.from({ length: count }, (_, i) => (i % 7 === 0 ? null : i));
    const body = file([days(count), shops(count), { name: 'revenue', data: revenue }], {
      rowGroupSize: 700,
    });
    const { samples, counts } = await read(body);
    expect(counts).toMatchObject({ records: count, parsed: count, rejected: 0 });
    const expected = revenue.flatMap((value, i) =>
      value === null ? [] : [`${i + 1} {"shop":"s${i}"} ${value}`],
    );
    expect(samples.map((s) => `${s.record} ${s.labels} ${s.value}`)).toEqual(expected);
    expect(counts.blank).toBe(2 * count - expected.length);
  });

  test.each(['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT'] as const)(
    'may hold numbers as %s',
    async (encoding) => {
      const data = Array.from({ length: 3_000 }, (_, i) => BigInt((i % 40) * 1_000_003));
      const columns = [days(3_000), shops(3_000), { name: 'revenue', data, encoding }];
      const { samples } = await read(file(columns, { pageSize: 2_000 }));
      expect(samples.map(({ value }) => value)).toEqual(data.map(String));
    },
  );

  test.each(['PLAIN', 'RLE_DICTIONARY', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'] as const)(
    'may hold texts as %s',
    async (encoding) => {
      const data = Array.from({ length: 3_000 }, (_, i) => `Köln-${String(i % 500).padStart(5)}`);
      const shop: Column = { name: 'shop', data, type: 'STRING', encoding };
      const revenue = { name: 'revenue', data: data.map((_, i) => i) };
      const { samples } = await read(file([days(3_000), shop, revenue], { pageSize: 2_000 }));
      const found = samples.map(({ labels }) => (JSON.parse(labels) as { shop: string }).shop);
      expect(found).toEqual(data);
    },
  );

  test.each([
    ['UNCOMPRESSED', {}],
    ['SNAPPY', {}],
    ['GZIP', { GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)) }],
    ['ZSTD', { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdCompressSync(bytes)) }],
  ] as const)('may be packed by %s', async (codec, compressors) => {
    const revenue = { name: 'revenue', data: Array.from({ length: 2_000 }, (_, i) => i) };
    const body = file([days(2_000), shops(2_000), revenue], { codec, compressors });
    expect((await read(body)).counts).toMatchObject({ parsed: 2_000, samples: 2_000 });
  });

  test('without rows is parsed with 0 records', async () => {
    const revenue: Column = { name: 'revenue', data: [], type: 'INT32' };
    expect(await read(file([days(0), shops(0), revenue]))).toMatchObject({
      ...{ status: 'parsed', counts: { records: 0 } },
    });
  });

  test('lists its undeclared columns; a required one that is missing refuses it', async () => {
    const body = file([
      days(1),
      { name: 'other', data: [1] },
      { name: 'nested', data: [{ a: 1 }] },
    ]);
    expect(await read(body)).toMatchObject({
      refusal: { code: 'header_field_missing', field: 'shop' },
    });
    const whole = file([
      ...[days(1), shops(1), { name: 'revenue', data: [1] }, { name: 'other', data: [1] }],
      { name: 'nested', data: [{ a: [1, 2] }] },
    ]);
    expect((await read(whole)).undeclaredFields).toEqual(['other', 'nested']);
  });

  test('with a nested column where the shape has a role is refused', async () => {
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 3 },
      { name: 'day', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
      { name: 'shop', converted_type: 'LIST', num_children: 1, repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      { name: 'revenue', type: 'INT32', repetition_type: 'OPTIONAL' },
    ];
    const shop = { name: 'shop', data: [['a', 'b']] };
    const body = file([days(1), shop, { name: 'revenue', data: [1] }], { schema });
    expect((await read(body)).refusal).toMatchObject({ code: 'column_nested', field: 'shop' });
    const fields = someFields.map((field) =>
      field.name === 'shop' ? { name: 'shop' } : { ...field },
    );
    const metrics = [{ key: 'revenue', name: 'R', unit: 'x', labels: [] }];
    const flat = fields.filter(({ name }) => name !== 'orders');
    expect((await read(body, { fields: flat, metrics })).samples).toHaveLength(1);
  });
});

describe('values', () => {
  test('that are decimals keep every digit', async () => {
    const decimal = (type: SchemaElement['type'], scale: number, more = {}) =>
      ({ type, converted_type: 'DECIMAL', precision: 38, scale, ...more }) as const;
    const units = [1_050n, -5n, 0n, null, 123_456_789n];
    const texts = ['10.50', '-0.05', '0.00', 'blank', '1234567.89'];
    expect(await values(decimal('INT32', 2), units)).toEqual(texts);
    expect(await values(decimal('INT64', 2), units)).toEqual(texts);
    const fixed = decimal('FIXED_LEN_BYTE_ARRAY', 5, { type_length: 16 });
    const large = 12_345_678_901_234_567_890_123_456_789n;
    expect(await values(fixed, [large, -large, 1n])).toEqual([
      ...['123456789012345678901234.56789', '-123456789012345678901234.56789', '0.00001'],
    ]);
  });

  test('that are whole numbers keep every digit', async () => {
    const edge = [9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n];
    expect(await values({ type: 'INT64' }, edge)).toEqual(edge.map(String));
    const unsigned = { type: 'INT64', converted_type: 'UINT_64' } as const;
    const most = 18_446_744_073_709_551_615n;
    expect(await values(unsigned, [most, 1n])).toEqual([String(most), '1']);
    expect(await values({ type: 'INT32', converted_type: 'UINT_32' }, [4_294_967_295])).toEqual([
      '4294967295',
    ]);
  });

  test('that are floats are taken where one decimal stands for them', async () => {
    const doubles = [0.1, -2.5, 1e21, 1e-7, 0.1 + 0.2, 1 / 3, Number.NaN, Infinity, -0, 123456.789];
    expect(await values({ type: 'DOUBLE' }, doubles)).toEqual([
      ...['0.1', '-2.5', '1000000000000000000000', '0.0000001', 'number_inexact'],
      ...['number_inexact', 'number_inexact', 'number_inexact', '0', '123456.789'],
    ]);
    const floats = [0.1, 16.25, 1e10, 16_777_217, 3.25159, 1 / 3];
    expect(await values({ type: 'FLOAT' }, floats)).toEqual([
      ...['0.1', '16.25', '10000000000', 'number_inexact', '3.25159', 'number_inexact'],
    ]);
  });

  test('that are texts are taken as they are, what has no text is rejected', async () => {
    const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
    expect(await values(text, ['10.50', '', '1e5'])).toEqual([
      '10.50',
      'blank',
      'value_not_decimal',
    ]);
    expect(await values({ type: 'BOOLEAN' }, [true, false])).toEqual(['not_text', 'not_text']);
    const raw = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2 } as const;
    expect(await values(raw, [new Uint8Array([49, 50])])).toEqual(['not_text']);
    const bytes = [Buffer.from('7').subarray(), Buffer.from([0xff])].map((b) => new Uint8Array(b));
    const body = declared('revenue', { type: 'BYTE_ARRAY' }, bytes.slice(0, 1));
    expect((await read(body)).samples).toMatchObject([{ value: '7' }]);
    const bad = declared('revenue', { type: 'BYTE_ARRAY' }, bytes);
    expect((await read(bad)).refusal).toMatchObject({ code: 'invalid_utf8' });
  });

  test('of any double come back as that double, or not at all', async () => {
    const doubles = fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(doubles, async (data) => {
        for (const [i, found] of (await values({ type: 'DOUBLE' }, data)).entries()) {
          if (found === 'value_too_long')
            expect(Math.abs(Math.log10(Math.abs(data[i]!)))).toBeGreaterThan(60);
          else if (found === 'number_inexact')
            expect(Number(data[i]!.toPrecision(15)) === data[i] && Number.isFinite(data[i])).toBe(
              false,
            );
          else expect(Number(found)).toBe(data[i]! + 0);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('periods', () => {
  const timestamp = (unit: 'MILLIS' | 'MICROS' | 'NANOS', isAdjustedToUTC: boolean) => ({
    type: 'INT64' as const,
    logical_type: { type: 'TIMESTAMP' as const, unit, isAdjustedToUTC },
  });
  const late = 1_714_603_500_000n; // 2024-05-01T22:45:00Z, already May 2nd in Berlin

  test.each<[string, Partial<SchemaElement>, bigint | number, string]>([
    ['a day', { type: 'INT32', converted_type: 'DATE' }, 19_844, '2024-05-01'],
    ['a day before 1970', { type: 'INT32', converted_type: 'DATE' }, -1, '1969-12-31'],
    ['an instant in milliseconds', timestamp('MILLIS', true), late, '2024-05-02'],
    ['one in microseconds', timestamp('MICROS', true), late * 1_000n + 1n, '2024-05-02'],
    ['one in nanoseconds', timestamp('NANOS', true), late * 1_000_000n + 1n, '2024-05-02'],
    ['company time', timestamp('MILLIS', false), late, '2024-05-01'],
    ['an old instant', { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, late, '2024-05-02'],
    ['an instant before 1970', timestamp('MILLIS', false), -1n, '1969-12-31'],
    ['a year as a number', { type: 'INT32' }, 2024, '2024-01-01'],
    ['beyond the years', { type: 'INT32', converted_type: 'DATE' }, 99_999_999, 'period_invalid'],
    ['an instant beyond them', timestamp('MILLIS', true), 2n ** 62n, 'period_invalid'],
  ])('may be %s', async (_, element, value, expected) => {
    const grain = expected.endsWith('-01-01') ? 'year' : 'day';
    const fields = someFields.map((field) =>
      field.role === 'period' ? ({ ...field, grain } as const) : field,
    );
    const others = [shops(1), { name: 'revenue', data: [1] }];
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 3 },
      { name: 'day', repetition_type: 'REQUIRED', ...element },
      { name: 'shop', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      { name: 'revenue', type: 'INT32', repetition_type: 'OPTIONAL' },
    ];
    const body = file([{ name: 'day', data: [value] as never[] }, ...others], { schema });
    const { samples, rejections } = await read(body, { fields });
    expect([
      ...samples.map(({ day }) => day),
      ...rejections.map((line) => line.split(' day ')[1]),
    ]).toEqual([expected]);
  });
});

describe('a file that lies is refused', () => {
  const data = Array.from({ length: 5_000 }, (_, i) => i % 300);
  const body = file([days(5_000), shops(5_000), { name: 'revenue', data }]);

  test.each<[string, Buffer]>([
    ['text', Buffer.from('day,shop,revenue\n')],
    ['only a mark', Buffer.from('PAR1PAR1')],
    ['a footer beyond its begin', withFooterLength(body, body.length)],
    ['a footer of 4 GiB', withFooterLength(body, 0xffffffff)],
    ['no footer', withFooterLength(body, 0)],
    ['cut off', body.subarray(0, -1)],
    ['without its first bytes', body.subarray(4)],
  ])('%s', async (_, bytes) => {
    expect((await read(bytes)).refusal).toMatchObject({ code: 'parquet_invalid' });
  });

  test('an encrypted footer', async () => {
    const encrypted = Buffer.from(body);
    encrypted.write('PARE', encrypted.length - 4);
    expect((await read(encrypted)).refusal).toMatchObject({ code: 'parquet_unsupported' });
  });

  // The answer does not matter, only that there is one, soon and without a crash.
  test('wherever one of its bytes is changed, or it gives what it gave', async () => {
    const small = file([days(50), shops(50), { name: 'revenue', data: data.slice(0, 50) }]);
    const plain = file([days(50), shops(50), { name: 'revenue', data: data.slice(0, 50) }], {
      codec: 'UNCOMPRESSED',
    });
    for (const whole of [small, plain]) {
      for (let at = 0; at < whole.length; at++) {
        for (const flip of [0xff, 0x80, 0x01]) {
          const changed = Buffer.from(whole);
          changed[at]! ^= flip;
          const { status, counts } = await read(changed);
          if (status === 'parsed') expect(counts.records).toBe(50);
        }
      }
    }
  }, 120_000);

  function withFooterLength(bytes: Buffer, length: number): Buffer {
    const changed = Buffer.from(bytes);
    changed.writeUInt32LE(length, changed.length - 8);
    return changed;
  }
});
