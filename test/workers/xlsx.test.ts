import fc from 'fast-check';
import { readSheet } from 'read-excel-file/node';
import { describe, expect, test } from 'vitest';
import writeExcelFile from 'write-excel-file/node';
import { type Parts, rowOf, xlsxFiles, xlsxOf, zipOf } from './make-xlsx.ts';
import { parsed } from './some-delivery.ts';

const head = rowOf(1, ['day', 'shop', 'revenue']);
const read = (body: Buffer) => parsed(body, { format: 'xlsx' });
const readRows = (rows: string, parts: Parts = {}) => read(xlsxOf({ rows: head + rows, ...parts }));
const refusal = async (body: Buffer) => (await read(body)).refusal?.code ?? null;
const value = (cell: string, parts: Parts = {}) =>
  readRows(rowOf(2, ['2024-05-01', 's', cell]), parts);

/** What a value cell gives: the sample's value, or why there is none. */
async function outcome(cell: string, parts: Parts = {}): Promise<string> {
  const { samples, rejections, refusal } = await value(cell, parts);
  const rejected = rejections[0]?.replace('1.0 line 2 revenue ', '');
  return samples[0]?.value ?? rejected ?? refusal?.code ?? 'blank';
}

describe('a workbook', () => {
  test('written by a program gives its first sheet, header row and records', async () => {
    const day = (text: string) => ({ value: new Date(text), type: Date, format: 'yyyy-mm-dd' });
    const sheet = [
      ['note', 'day', 'shop', 'revenue', 'orders'],
      ['x', day('2024-05-01'), 's1', 10.5, 3],
      [null, day('2024-05-02'), 'Köln & <Co> "\u{1f600}"', -0.25, null],
    ] as never;
    const other = [['day', 'shop', 'revenue']] as never;
    const file = writeExcelFile([
      { data: sheet, sheet: 'First' },
      { data: other, sheet: 'Other' },
    ]);
    const { samples, counts, undeclaredFields } = await read(await file.toBuffer());
    expect(counts).toMatchObject({ records: 2, parsed: 2, samples: 3, blank: 1 });
    expect(undeclaredFields).toEqual(['note']);
    const labels = JSON.stringify({ shop: 'Köln & <Co> "\u{1f600}"' });
    expect(samples).toEqual([
      ...[
        { day: '2024-05-01', metric: 'revenue', labels: '{"shop":"s1"}', value: '10.5', record: 1 },
        { day: '2024-05-01', metric: 'orders', labels: '{}', value: '3', record: 1 },
        { day: '2024-05-02', metric: 'revenue', labels, value: '-0.25', record: 2 },
      ],
    ]);
  });

  test('has records in rows: blank ones are none, but count as lines', async () => {
    const rows = [
      rowOf(3, ['2024-05-01', 's', '<c><v>1</v></c>']),
      '<row r="4"/><row r="5"><c r="A5" s="1"/><c r="B5" t="inlineStr"><is><t/></is></c></row>',
      rowOf(9, ['2024-05-01', 's', 'x']),
      rowOf(10, ['2024-05-01', 's', '<c><v>2</v></c>', 'too much']),
      rowOf(1_048_576, ['2024-05-01', 't']),
    ];
    const { counts, rejections, samples } = await readRows(rows.join(''));
    expect(counts).toMatchObject({ records: 4, parsed: 2, rejected: 2, blank: 3 });
    expect(rejections).toEqual([
      '2.0 line 9 revenue value_not_decimal',
      '3.0 line 10 NULL cell_count',
    ]);
    expect(samples.map(({ record }) => record)).toEqual([1]);
  });

  test('may have its header anywhere, and rows and cells without references', async () => {
    const cell = (text: string) => `<c t="str"><v>${text}</v></c>`;
    const row = (...texts: string[]) => `<row>${texts.map(cell).join('')}</row>`;
    const rows = `<row r="4"/>${row('day', 'shop', 'revenue')}${row('2024-05-01', 's', '7')}`;
    const { samples } = await read(xlsxOf({ rows }));
    expect(samples).toMatchObject([{ value: '7', labels: '{"shop":"s"}' }]);
    const late = await read(xlsxOf({ rows: `<row r="4"/>${row('day', 'shop')}` }));
    expect(late.refusal).toMatchObject({ code: 'header_field_missing', line: 5, field: 'revenue' });
  });

  test.each([
    ['shared', '<c t="s"><v>1</v></c>'],
    ['inline', '<c t="inlineStr"><is><r><t>a </t></r><r><rPr/><t>b&#10;_x0041_</t></r></is></c>'],
    ['of a formula', '<c t="str"><f>A1</f><v>a b&#10;_x0041_</v></c>'],
    ['cut by comments', '<c t="str"><v>a <!-- x -->b<![CDATA[\n]]>_x0041_</v></c>'],
  ])('holds text that is %s, put together and with nothing trimmed', async (_, cell) => {
    const strings =
      '<si><t>other</t></si><si><r><t>a </t></r><rPh><t>no</t></rPh><r><t>b\n_x0041_</t></r></si>';
    const rows = rowOf(2, ['2024-05-01', cell, '<c><v>1</v></c>']);
    const { samples } = await readRows(rows, { strings });
    expect(JSON.parse(samples[0]!.labels)).toEqual({ shop: 'a b\nA' });
  });
});

describe('a number becomes the decimal it stands for', () => {
  test.each([
    ['10.50', '10.50'],
    ['-0.25', '-0.25'],
    ['1E3', '1000'],
    ['1.0E-2', '0.010'],
    ['-1.25e+2', '-125'],
    ['12.5E1', '125'],
    ['0E0', '0'],
    ['1.1000000000000001', '1.1'],
    ['19.989999999999998', '19.99'],
    ['1.0000000000000001E-5', '0.00001'],
    ['123456789012345', '123456789012345'],
    ['9.9999999999999992E+22', '100000000000000000000000'],
    ['0.30000000000000004', 'number_inexact'],
    ['12345678901234567', 'number_inexact'],
    ['100000000000000000000001', 'number_inexact'],
    ['3.3333333333333335', 'number_inexact'],
    ['1E300', 'value_too_long'],
    ['1E9999', 'number_inexact'],
    ['1,5', 'value_not_decimal'],
    [' 1', 'value_not_decimal'],
    ['0x1F', 'value_not_decimal'],
    ['NaN', 'value_not_decimal'],
    ['', 'blank'],
  ])('%j as %s', async (raw, expected) => {
    expect(await outcome(`<c><v>${raw}</v></c>`)).toBe(expected);
  });

  test.each([
    ['a formula’s stored result', '<c><f>1+1</f><v>2</v></c>', '2'],
    ['a formula without one', '<c><f>1+1</f></c>', 'formula_not_computed'],
    ['an error', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', 'cell_error'],
    ['TRUE', '<c t="b"><v>1</v></c>', 'not_text'],
    ['text', '<c t="str"><v>12.50</v></c>', '12.50'],
    ['a percentage', '<c s="1"><v>0.105</v></c>', '0.105'],
    ['a date', '<c s="2"><v>45413</v></c>', 'value_not_decimal'],
    ['a style that does not exist', '<c s="99"><v>5</v></c>', '5'],
  ])('where the cell holds %s', async (_, cell, expected) => {
    expect(await outcome(cell, { formats: ['0.0%', 'dd.mm.yy'] })).toBe(expected);
  });

  test('any double of at most 15 digits comes back, however it is written', async () => {
    const digits = fc.bigInt({ min: 1n, max: 999_999_999_999_999n });
    await fc.assert(
      fc.asyncProperty(digits, fc.integer({ min: -14, max: 6 }), async (units, exponent) => {
        const double = Number(`${units}e${exponent}`);
        const long = await outcome(`<c><v>${double.toPrecision(17)}</v></c>`);
        const short = await outcome(`<c><v>${units}e${exponent}</v></c>`);
        expect(Number(long)).toBe(double);
        expect(long.replace(/\D/g, '').replace(/^0+|0+$/g, '').length).toBeLessThanOrEqual(15);
        // BigInt knows nothing of floats.
        const scaled = (text: string) => {
          const [whole = '', fraction = ''] = text.split('.');
          return BigInt(whole + fraction.padEnd(30, '0'));
        };
        expect(scaled(long)).toBe(units * 10n ** BigInt(30 + exponent));
        expect(scaled(short)).toBe(scaled(long));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a date', () => {
  const day = async (cell: string, parts: Parts = {}) => {
    const formats = ['yyyy\\-mm', '[h]:mm', '[Red]0.0&quot;d&quot;', 'd/m/yy\\ h:mm', 'mmm\\-yy'];
    const rows = rowOf(2, [cell, 's', '<c><v>1</v></c>']);
    const { samples, rejections } = await readRows(rows, { formats, ...parts });
    return samples[0]?.day ?? rejections[0]!.replace('1.0 line 2 day ', '');
  };

  test.each([
    ['a serial number with a date format', '<c s="1"><v>45413</v></c>', '2024-05-01'],
    ['one with a built-in format', '<c s="6"><v>45413</v></c>', '2024-05-01'],
    ['one with a time of day', '<c s="4"><v>45413.999</v></c>', '2024-05-01'],
    ['one a breath before midnight', '<c s="4"><v>45413.9999999999</v></c>', '2024-05-02'],
    ['one in an exponent', '<c s="5"><v>4.5413E4</v></c>', '2024-05-01'],
    ['the first day of 1900', '<c s="1"><v>1</v></c>', '1900-01-01'],
    ['the last of February 1900', '<c s="1"><v>59</v></c>', '1900-02-28'],
    ['the day that never was', '<c s="1"><v>60</v></c>', 'period_invalid'],
    ['the first of March 1900', '<c s="1"><v>61</v></c>', '1900-03-01'],
    ['day nought', '<c s="1"><v>0</v></c>', 'period_out_of_range'],
    ['a negative one', '<c s="1"><v>-1</v></c>', 'period_invalid'],
    ['one beyond the year 9999', '<c s="1"><v>2958466</v></c>', 'period_invalid'],
    ['a number that shows a literal d', '<c s="3"><v>45413</v></c>', 'period_invalid'],
    ['a number without format', '<c><v>45413</v></c>', 'period_invalid'],
    ['a text', '<c t="str"><v>2024-05-01</v></c>', '2024-05-01'],
    ['an ISO date', '<c t="d"><v>2024-05-01T23:30:00Z</v></c>', '2024-05-02'],
    ['an error', '<c t="e"><v>#N/A</v></c>', 'cell_error'],
  ])('that is %s', async (_, cell, expected) => {
    expect(await day(cell)).toBe(expected);
  });

  test('counts from 1904 where the workbook says so', async () => {
    expect(await day('<c s="1"><v>43951</v></c>', { since1904: true })).toBe('2024-05-01');
    expect(await day('<c s="1"><v>0</v></c>', { since1904: true })).toBe('1904-01-01');
  });
});

describe('what is no sound workbook is refused', () => {
  const good = rowOf(2, ['2024-05-01', 's', '<c><v>1</v></c>']);
  const rows = head + good;
  const sheetOf = (xml: string) => xlsxOf({ sheet: xml });

  test.each<[string, Buffer, string]>([
    ['text', Buffer.from('day,shop,revenue\n'), 'xlsx_invalid'],
    ['nothing but a directory', zipOf([]), 'xlsx_invalid'],
    ['cut off', xlsxOf({ rows }).subarray(0, -1), 'xlsx_invalid'],
    ['followed by a byte', Buffer.concat([xlsxOf({ rows }), Buffer.alloc(1)]), 'xlsx_invalid'],
    ['without a sheet', zipOf(xlsxFiles({ rows }).slice(0, -1)), 'xlsx_invalid'],
    ['a name twice', zipOf([...xlsxFiles({ rows }), ...xlsxFiles({ rows })]), 'xlsx_invalid'],
    ['two names for one file', xlsxOf({ rows, lies: { localName: 'x' } }), 'xlsx_invalid'],
    ['too small a size', xlsxOf({ rows, lies: { bytes: 10 } }), 'zip_false'],
    ['too large a size', xlsxOf({ rows, lies: { bytes: 100_000_000 } }), 'zip_false'],
    ['another checksum', xlsxOf({ rows, lies: { crc: 1 } }), 'zip_false'],
    ['an encrypted file', xlsxOf({ rows, lies: { flags: 1 } }), 'xlsx_encrypted'],
    [
      'a password',
      Buffer.concat([
        Buffer.from('d0cf11e0a1b11ae1', 'hex'),
        Buffer.from('EncryptedPackage', 'utf16le'),
      ]),
      'xlsx_encrypted',
    ],
    ['an old .xls', Buffer.from('d0cf11e0a1b11ae1'.padEnd(200, '0'), 'hex'), 'xlsx_invalid'],
    ['an open element', sheetOf('<worksheet><sheetData>'), 'xlsx_invalid'],
    ['elements that cross', sheetOf('<worksheet><sheetData></worksheet>'), 'xlsx_invalid'],
    [
      'a document type',
      sheetOf('<!DOCTYPE x [<!ENTITY a "b">]><worksheet><sheetData/></worksheet>'),
      'xlsx_invalid',
    ],
    ['an entity', xlsxOf({ rows: rowOf(1, ['day', 'shop', 'revenue&nbsp;']) }), 'xlsx_invalid'],
    ['half a surrogate', xlsxOf({ rows: rowOf(1, ['day', '_xD800_']) }), 'xlsx_invalid'],
    [
      'a shared text that is missing',
      xlsxOf({ rows: head + rowOf(2, ['<c t="s"><v>0</v></c>']) }),
      'xlsx_invalid',
    ],
    ['rows out of order', xlsxOf({ rows: head + rowOf(3, []) + rowOf(2, []) }), 'xlsx_invalid'],
    ['a row twice', xlsxOf({ rows: head + good + good }), 'xlsx_invalid'],
    ['a row beyond the last', xlsxOf({ rows: head + rowOf(1_048_577, []) }), 'xlsx_invalid'],
    ['a cell of another row', xlsxOf({ rows: '<row r="1"><c r="A2"/></row>' }), 'xlsx_invalid'],
    [
      'cells out of order',
      xlsxOf({ rows: '<row r="1"><c r="B1"/><c r="A1"/></row>' }),
      'xlsx_invalid',
    ],
    [
      'a column beyond 10,000',
      xlsxOf({ rows: '<row r="1"><c r="ZZZ1"/></row>' }),
      'too_many_columns',
    ],
    ['no header', xlsxOf({ rows: '<row r="1"/>' }), 'header_missing'],
    ['UTF-16', sheetOf(Buffer.from('<worksheet/>', 'utf16le').toString('latin1')), 'xlsx_invalid'],
  ])('for %s', async (_, body, code) => {
    expect(await refusal(body)).toBe(code);
  });

  test('files that nothing refers to, macros among them, are never unpacked', async () => {
    const more = [{ name: 'xl/vbaProject.bin', content: 'macro', crc: 1, bytes: 4_000_000_000 }];
    const { samples } = await readRows(good, { more });
    expect(samples).toHaveLength(1);
  });
});

test('reads what read-excel-file reads', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '&', '<', '"', '\u{1f600}', ' x') });
  const cell = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
  const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const data = [['day', 'shop', 'revenue'], ...rows] as never;
      const file = await writeExcelFile(data).toBuffer();
      const expected = (await readSheet(file, { trim: false, parseNumber: String } as never)).slice(
        1,
      );
      const { rejections, counts, samples } = await read(file);
      const filled = expected.filter((row) => row.some((one) => one !== null));
      expect(counts.records).toBe(filled.length);
      // No cell of the first column is a day, so that each record is rejected, for what it is.
      expect(samples).toEqual([]);
      const codes = filled.map((row, i) => {
        const of = (one: unknown) =>
          typeof one === 'boolean' ? 'not_text' : one === null ? 'period_blank' : 'period_invalid';
        return `${i + 1} ${of(row[0])}`;
      });
      const found = rejections.filter((line) => line.includes(' day '));
      expect(found.map((line) => line.replace(/\.0 line \d+ day/, ''))).toEqual(codes);
    }),
    { numRuns: 60 },
  );
});
