import { describe, expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import type { ParseInput } from '../../src/parse/messages.ts';
import { parsed, someFields } from './some-delivery.ts';

const csv = 'day,shop,revenue,orders\n2024-05-01,s1,10.50,3\n2024-05-02,s2,-0.00,\n';
const csvSamples = [
  { day: '2024-05-01', metric: 'revenue', labels: '{"shop":"s1"}', value: '10.50', record: 1 },
  { day: '2024-05-01', metric: 'orders', labels: '{}', value: '3', record: 1 },
  { day: '2024-05-02', metric: 'revenue', labels: '{"shop":"s2"}', value: '-0.00', record: 2 },
];

async function refusal(body: string | Buffer, change: Partial<ParseInput> = {}) {
  const { status, counts, refusal, samples, rejections } = await parsed(body, change);
  expect(status).toBe('rejected');
  expect(counts.records).toBe(0);
  expect([samples, rejections]).toEqual([[], []]);
  expect(refusal).toMatchObject({ record: null, message: expect.stringMatching(/^[A-Z].*\.$/) });
  const { code, line, field } = refusal!;
  return [code, line, field].filter((part) => part !== null).join(' ');
}

describe('a CSV document', () => {
  test('gives a sample for each value, exactly as sent, with the record it is from', async () => {
    expect(await parsed(csv)).toEqual({
      status: 'parsed',
      counts: { records: 2, parsed: 2, rejected: 0, samples: 3, blank: 1, supersededWithin: 0 },
      refusal: null,
      undeclaredFields: [],
      samples: csvSamples,
      rejections: [],
    });
  });

  test.each<[string, string]>([
    ['with a byte order mark', `\ufeff${csv}`],
    ['with CRLF', csv.replaceAll('\n', '\r\n')],
    ['without a last line end', csv.trimEnd()],
    ['with blank lines', csv.replaceAll('\n', '\n\n')],
    ['with every cell quoted', csv.replaceAll(/[^,\n]+/g, '"$&"')],
    [
      'with its columns in another order',
      'orders,revenue,day,shop\n3,10.50,2024-05-01,s1\n,-0.00,2024-05-02,s2\n',
    ],
  ])('reads the same %s', async (_, body) => {
    const read = await parsed(body);
    const order = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    expect(read.samples.toSorted(order)).toEqual(csvSamples.toSorted(order));
    expect(read).toMatchObject({ status: 'parsed', refusal: null, rejections: [] });
  });

  test('keeps commas, quotes and line ends of a quoted label', async () => {
    const body = 'day,shop,revenue\n2024-05-01,"a,""b""\nc\\\t",1\n';
    const { samples } = await parsed(body);
    expect(samples.map(({ labels }) => JSON.parse(labels))).toEqual([{ shop: 'a,"b"\nc\\\t' }]);
  });

  test('may lack an optional column, whose values are then blank', async () => {
    const { counts } = await parsed('day,shop,revenue\n2024-05-01,s1,1\n');
    expect(counts).toMatchObject({ parsed: 1, samples: 1, blank: 1 });
  });

  test.each(['day,shop,revenue,orders\n', 'day,shop,revenue', '\n\nday,shop,revenue\n\n'])(
    'with a header and no rows is parsed with 0 records: %j',
    async (body) => {
      expect(await parsed(body)).toMatchObject({
        status: 'parsed',
        counts: { records: 0 },
        samples: [],
      });
    },
  );

  test('loses its bad records only, each with its line, fields and codes', async () => {
    const body = [
      'day,shop,revenue,orders',
      '2024-02-30,s1,1e5,3',
      '2024-05-01,"s\n1",7,3',
      '2024-05-01,s1,1',
      '2024-05-01,s1,2,x',
      '',
      '2024-05-01,s1,3,3,4',
    ].join('\n');
    const { status, counts, rejections, samples } = await parsed(body);
    expect(status).toBe('parsed');
    expect(counts).toMatchObject({ records: 5, parsed: 1, rejected: 4, samples: 2 });
    expect(rejections).toEqual([
      '1.0 line 2 day period_invalid',
      '1.1 line 2 revenue value_not_decimal',
      '3.0 line 5 NULL cell_count',
      '4.0 line 6 orders value_not_decimal',
      '5.0 line 8 NULL cell_count',
    ]);
    expect(samples.map(({ record }) => record)).toEqual([2, 2]);
  });

  test('is rejected, with its record’s rejections, when no record is good', async () => {
    const { status, refusal, counts, rejections } = await parsed(
      'day,shop,revenue\n,s1,1\n,s2,1\n',
    );
    expect({ status, refusal }).toEqual({ status: 'rejected', refusal: null });
    expect(counts).toMatchObject({ records: 2, parsed: 0, rejected: 2 });
    expect(rejections).toHaveLength(2);
  });

  test('emits every row of a repeated identity and counts the earlier ones', async () => {
    const body = 'day,shop,revenue\n2024-05-01,s,1\n2024-05-01,s,2\n2024-05-01,s,3\n';
    const { counts, samples } = await parsed(body);
    expect(counts).toMatchObject({ samples: 1, supersededWithin: 2 });
    expect(samples.map(({ value, record }) => [value, record])).toEqual([
      ['1', 1],
      ['2', 2],
      ['3', 3],
    ]);
  });

  test.each<[string, string | Buffer, string]>([
    ['whose header lacks a required field', 'day,shop\n1,2\n', 'header_field_missing 1 revenue'],
    ['whose header differs in case', 'Day,shop,revenue\n', 'header_field_missing 1 day'],
    ['whose header has a space more', 'day, shop,revenue\n', 'header_field_missing 1 shop'],
    ['with a declared name twice', 'day,shop,revenue,day\n', 'header_field_twice 1 day'],
    [
      'with an optional name twice',
      'day,shop,revenue,orders,orders\n',
      'header_field_twice 1 orders',
    ],
    ['without a header', '', 'header_missing'],
    ['of empty lines', '\n\n', 'header_missing'],
    ['of a byte order mark', '\ufeff', 'header_missing'],
    ['with two byte order marks', `\ufeff\ufeff${csv}`, 'header_field_missing 1 day'],
    ['with CR for line ends', csv.replaceAll('\n', '\r'), 'line_end_invalid'],
    ['with an open quote after good rows', `${csv}2024-05-03,"s1,1,2\n`, 'quote_not_closed 4'],
    ['with a stray quote after good rows', `${csv}2024-05-03,s"1,1,2\n`, 'quote_misplaced 4'],
    ['in Latin-1', Buffer.from(csv.replace('s2', 'Köln'), 'latin1'), 'invalid_utf8'],
    ['with a byte cut off', Buffer.from(`${csv}2024-05-03,ö`).subarray(0, -1), 'invalid_utf8'],
    ['with a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80]), 'invalid_utf8'],
    ['with an overlong character', Buffer.from([0xc0, 0x80]), 'invalid_utf8'],
  ])('%s is refused as a whole', async (_, body, expected) => {
    expect(await refusal(body)).toBe(expected);
  });

  test('lists the undeclared names of its header once, and none of a refused header', async () => {
    const { undeclaredFields } = await parsed('note,day,shop,,revenue,note\n');
    expect(undeclaredFields).toEqual(['note', '']);
    expect((await parsed('note,day,shop\n')).undeclaredFields).toEqual([]);
  });

  test('lists at most 1,000 undeclared names, cut to 200 characters', async () => {
    const names = Array.from({ length: 1_200 }, (_, i) => `${i}${'\u{1f600}'.repeat(300)}`);
    const { undeclaredFields } = await parsed(`day,shop,revenue,${names.join(',')}\n`);
    expect(undeclaredFields).toHaveLength(1_000);
    expect(undeclaredFields[7]).toBe(`7${'\u{1f600}'.repeat(199)}`);
  });
});

describe('values and periods at their limits come back as sent', () => {
  test.each(['9'.repeat(76), `-0.${'1'.repeat(75)}`, '10.50', '-0.00', '0.1', '007'])(
    '%s',
    async (value) => {
      const change: [Partial<ParseInput>, string][] = [
        [{ format: 'csv' }, `day,shop,revenue\n2024-05-01,s,${value}\n`],
        [{ format: 'json' }, `[{"day":"2024-05-01","shop":"s","revenue":"${value}"}]`],
        [{ format: 'ndjson' }, `{"day":"2024-05-01","shop":"s","revenue":"${value}"}`],
      ];
      for (const [input, body] of change) {
        expect((await parsed(body, input)).samples.map((sample) => sample.value)).toEqual([value]);
      }
    },
  );

  test('months of ten years, 1900, 2299 and a leap day', async () => {
    const months = Array.from(
      { length: 120 },
      (_, i) => `${2010 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-01`,
    );
    const days = [...months, '1900-01-01', '2299-12-31', '2024-02-29', '1969-12-31', '1970-01-01'];
    const body = `day,shop,revenue\n${days.map((day) => `${day},s,1\n`).join('')}`;
    expect((await parsed(body)).samples.map(({ day }) => day)).toEqual(days);
  });
});

test('a TSV document is split at tabs, and a comma is text', async () => {
  const body = 'day\tshop\trevenue\n2024-05-01\t"a\tb",\t1\n';
  expect(await refusal(body, { format: 'tsv' })).toBe('quote_misplaced 2');
  const { samples } = await parsed(body.replace('"a\tb",', '"a\tb"'), { format: 'tsv' });
  expect(samples[0]!.labels).toBe('{"shop":"a\\tb"}');
});

describe('a JSON document', () => {
  const json = (body: string) => parsed(body, { format: 'json' });

  test('takes numbers by their source text, texts as they are, null as blank', async () => {
    const { samples, counts } = await json(`[
      {"day":"2024-05-01","shop":"s1","revenue":10.50,"orders":3},
      {"orders":null,"revenue":"-0.00","shop":"s2","day":"2024-05-02"}
    ]`);
    expect(samples).toEqual(csvSamples);
    expect(counts).toMatchObject({ parsed: 2, blank: 1 });
  });

  test('may be one object', async () => {
    expect((await json('{"day":"2024-05-01","shop":7,"revenue":1}')).samples).toEqual([
      { day: '2024-05-01', metric: 'revenue', labels: '{"shop":"7"}', value: '1', record: 1 },
    ]);
  });

  test('that is an empty array is parsed with 0 records', async () => {
    expect(await json(' [] ')).toMatchObject({ status: 'parsed', counts: { records: 0 } });
  });

  test('lets the last of two equal names win', async () => {
    const { samples } = await json(
      '[{"day":"2024-05-01","shop":"a","shop":"b","revenue":1,"revenue":2}]',
    );
    expect(samples).toMatchObject([{ labels: '{"shop":"b"}', value: '2' }]);
  });

  test('loses its bad records only', async () => {
    const good = '{"day":"2024-05-01","shop":"s","revenue":1}';
    const { counts, rejections } = await json(`[${good},5,null,[],"x",
      {"day":"2024-05-01","shop":true,"revenue":{"a":1},"orders":[1]},
      {"shop":"s","revenue":1e5},
      {},${good}]`);
    expect(counts).toMatchObject({ records: 9, parsed: 2, rejected: 7 });
    expect(rejections).toEqual([
      '2.0 line NULL NULL record_not_object',
      '3.0 line NULL NULL record_not_object',
      '4.0 line NULL NULL record_not_object',
      '5.0 line NULL NULL record_not_object',
      '6.0 line NULL shop not_text',
      '6.1 line NULL revenue not_text',
      '6.2 line NULL orders not_text',
      '7.0 line NULL day field_missing',
      '7.1 line NULL revenue value_not_decimal',
      '8.0 line NULL day field_missing',
      '8.1 line NULL shop field_missing',
      '8.2 line NULL revenue field_missing',
    ]);
  });

  test('takes a field named __proto__ for a field like any other', async () => {
    const fields: Field[] = [...someFields, { name: '__proto__', required: false }];
    const body = '[{"day":"2024-05-01","shop":"s","revenue":1,"__proto__":{"orders":"5"}}]';
    expect((await json(body)).undeclaredFields).toEqual(['__proto__']);
    const declared = await parsed(body, { format: 'json', fields });
    expect(declared).toMatchObject({ undeclaredFields: [], counts: { samples: 1 } });
    const label = someFields.with(1, { name: '__proto__', role: 'label', label: 'shop' });
    const text =
      '[{"day":"2024-05-01","revenue":1,"__proto__":"x"},{"day":"2024-05-01","revenue":1}]';
    const labelled = await parsed(text, { format: 'json', fields: label });
    expect(labelled.samples.map(({ labels }) => labels)).toEqual(['{"shop":"x"}']);
    expect(labelled.rejections).toEqual(['2.0 line NULL __proto__ field_missing']);
  });

  test('lists undeclared names in the order in which they first come', async () => {
    const body = '[{"b":1,"day":"2024-05-01"},{"a":{"c":1},"b":2}]';
    expect((await json(body)).undeclaredFields).toEqual(['b', 'a']);
  });

  test('may be nested where no role is', async () => {
    const depth = 990;
    const deep = `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    const body = `[{"day":"2024-05-01","shop":"s","revenue":1,"note":${deep}}]`;
    expect((await json(body)).counts).toMatchObject({ parsed: 1, samples: 1 });
  });

  test.each<[string, string, string]>([
    ['is empty', '', 'invalid_json'],
    ['is cut off', '[{"day":"2024-05-01","shop":"s","revenue":1}', 'invalid_json'],
    ['goes on after its end', '[] []', 'invalid_json'],
    ['has a comma too many', '[{},]', 'invalid_json'],
    ['has a number that JSON does not know', '[{"revenue":01}]', 'invalid_json'],
    ['has a comment', '[] // none', 'invalid_json'],
    ['opens half a million arrays', '['.repeat(500_000), 'json_too_deep'],
    ['is a number', '5', 'json_not_records'],
    ['is a text', '"day"', 'json_not_records'],
    ['is null', 'null', 'json_not_records'],
    ['has a lone surrogate in a value', '[{"day":"\\ud800"}]', 'lone_surrogate'],
    ['has a lone surrogate in a name that is not declared', '[{"\\ude00":1}]', 'lone_surrogate'],
  ])('that %s is refused as a whole', async (_, body, code) => {
    expect(await refusal(body, { format: 'json' })).toBe(code);
  });

  test('of invalid UTF-8 is refused as a whole', async () => {
    const body = Buffer.from('[{"day":"2024-05-01","shop":"é","revenue":1}]', 'latin1');
    expect(await refusal(body, { format: 'json' })).toBe('invalid_utf8');
  });
});

describe('an NDJSON document', () => {
  const line = '{"day":"2024-05-01","shop":"s1","revenue":10.50,"orders":3}';
  const change = { format: 'ndjson' } as const;

  test('has one record a line, blank lines passed over but counted', async () => {
    const body = `\n${line}\r\n \t\n{"day":"","shop":"s","revenue":1}\n7\n${line}`;
    const { counts, rejections } = await parsed(body, change);
    expect(counts).toMatchObject({ records: 4, parsed: 2, rejected: 2, supersededWithin: 2 });
    expect(rejections).toEqual([
      '2.0 line 4 day period_blank',
      '3.0 line 5 NULL record_not_object',
    ]);
  });

  test('without lines is parsed with 0 records', async () => {
    expect(await parsed('\n', change)).toMatchObject({ status: 'parsed', counts: { records: 0 } });
  });

  test.each<[string, string, string]>([
    ['with a line that is no JSON', `${line}\n\n{"day":\n${line}`, 'invalid_json 3'],
    ['with two objects on a line', `${line}\n${line}${line}\n`, 'invalid_json 2'],
    ['with an object over two lines', '{"day":\n"2024-05-01"}\n', 'invalid_json 1'],
    ['with an open text', `${line}\n{"day":"2024\n{"a":1}\n`, 'invalid_json 2'],
    ['with a lone surrogate', `${line}\n\n{"x":"\\udead"}\n${line}`, 'lone_surrogate 3'],
  ])('%s is refused as a whole', async (_, body, expected) => {
    expect(await refusal(body, change)).toBe(expected);
  });
});

describe('a JSON push', () => {
  const change = { delivery: 'push', mediaType: 'application/json' } as const;
  const push = (payload: string) =>
    `{"idempotency_key":"k","shape_version":1,"payload":${payload}}`;

  test('is one record, its payload', async () => {
    const body = push('{"day":"2024-05-01","shop":"s1","revenue":"10.50","orders":"3","x":"y"}');
    const read = await parsed(body, change);
    expect(read.samples).toEqual(csvSamples.slice(0, 2));
    expect(read.undeclaredFields).toEqual(['x']);
  });

  test('has text for values: a number is none', async () => {
    const body = push('{"day":"2024-05-01","shop":"s1","revenue":10.50}');
    const { status, refusal, rejections } = await parsed(body, change);
    expect({ status, refusal }).toEqual({ status: 'rejected', refusal: null });
    expect(rejections).toEqual(['1.0 line NULL revenue not_text']);
  });

  test.each<[string, string, string]>([
    ['without payload', '{"idempotency_key":"k"}', 'push_invalid'],
    ['whose payload is an array', push('[]'), 'push_invalid'],
    ['that is an array', '[]', 'push_invalid'],
    ['that is no JSON', 'day=1', 'invalid_json'],
    ['with a lone surrogate', push('{"shop":"\\ud800"}'), 'lone_surrogate'],
  ])('%s is refused as a whole', async (_, body, code) => {
    expect(await refusal(body, change)).toBe(code);
  });
});

describe('a webhook', () => {
  test.each(['text/csv', 'text/csv; charset=utf-8', 'Text/CSV'])(
    'of %s is CSV',
    async (mediaType) => {
      const change = { delivery: 'webhook', format: 'json', mediaType } as const;
      expect((await parsed(csv, change)).samples).toEqual(csvSamples);
    },
  );

  test('of application/json is an object or an array of objects', async () => {
    const change = { delivery: 'webhook', mediaType: 'application/json' } as const;
    const one = '{"day":"2024-05-01","shop":"s1","revenue":10.50,"orders":3}';
    expect((await parsed(one, change)).samples).toEqual(csvSamples.slice(0, 2));
    expect((await parsed(`[${one}]`, change)).samples).toEqual(csvSamples.slice(0, 2));
    expect(await refusal('', change)).toBe('invalid_json');
  });
});
