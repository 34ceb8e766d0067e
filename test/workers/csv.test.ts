import { CsvError, parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CsvRows } from '../../workers/csv.ts';

/** @param cuts where the text is cut into pieces */
function split(text: string, delimiter = ',', cuts: readonly number[] = []) {
  const csv = new CsvRows(delimiter);
  const rows: string[][] = [];
  const lines: number[] = [];
  const ends = [...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length];
  for (const [i, end] of ends.entries()) {
    csv.add(text.slice(ends[i - 1] ?? 0, end), i === ends.length - 1);
    for (let row = csv.next(); row !== null; row = csv.next()) {
      rows.push(row);
      lines.push(csv.line);
    }
  }
  return { rows, lines, problem: csv.problem };
}

/** The same by csv-parse, strict but for uneven rows; null where it refuses the text. */
function oracle(text: string, delimiter = ','): string[][] | null {
  try {
    return parse(text, {
      delimiter,
      record_delimiter: ['\n', '\r\n'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as string[][];
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}

describe('CSV rows', () => {
  test.each<[string, string, string[][]]>([
    [
      'end with LF',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'end with CRLF',
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['end with either, mixed', 'a\nb\r\nc\n', [['a'], ['b'], ['c']]],
    [
      'end with the text',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['keep a CR that ends no row', 'a\rb,c\n', [['a\rb', 'c']]],
    ['keep a CR at the end of the text', 'a,b\r', [['a', 'b\r']]],
    [
      'keep empty cells',
      ',\n,,\n',
      [
        ['', ''],
        ['', '', ''],
      ],
    ],
    ['keep spaces', ' a , b \n', [[' a ', ' b ']]],
    ['keep U+0000', 'a\0b,c\n', [['a\0b', 'c']]],
    ['leave wholly empty lines out', '\na\n\n\r\nb\n\n', [['a'], ['b']]],
    ['take "" for a row of one empty cell', 'a\n""\n', [['a'], ['']]],
    ['are none in an empty text', '', []],
    ['are none in empty lines', '\n\r\n\n', []],
    ['hold quoted delimiters', '"a,b",c\n', [['a,b', 'c']]],
    ['hold doubled quotes', '"say ""hi""",""""\n', [['say "hi"', '"']]],
    ['hold quoted line ends', '"a\nb\r\nc",d\n', [['a\nb\r\nc', 'd']]],
    ['hold a quoted cell that ends the text', 'a,"b"', [['a', 'b']]],
    ['hold a quoted cell before CRLF', '"a"\r\nb\r\n', [['a'], ['b']]],
    ['hold an empty last cell after a quoted one', '"a",', [['a', '']]],
    [
      'mix quoted and plain cells',
      'a,"b",c\nd,e,f\n"g",h,"i"\n',
      [
        ['a', 'b', 'c'],
        ['d', 'e', 'f'],
        ['g', 'h', 'i'],
      ],
    ],
  ])('%s', (_, text, rows) => {
    expect(split(text)).toMatchObject({ rows, problem: null });
    expect(oracle(text)).toEqual(rows);
  });

  test('are split at tabs the same way', () => {
    const text = 'a\tb,c\n"1\t2"\t3\n';
    expect(split(text, '\t').rows).toEqual([
      ['a', 'b,c'],
      ['1\t2', '3'],
    ]);
    expect(oracle(text, '\t')).toEqual(split(text, '\t').rows);
  });

  test('know the line on which they begin, quoted line ends and empty lines counted', () => {
    const text = 'h\n"a\nb\r\nc"\n\nd\n"e"\r\nf,"\n\n",g\nh';
    expect(split(text).lines).toEqual([1, 2, 6, 7, 8, 11]);
  });
});

describe('CSV text is unreadable', () => {
  test.each<[string, string, string, number]>([
    ['where a quote is not closed', 'a\n"b\nc\n', 'quote_not_closed', 2],
    ['where a quote is not closed in a later cell', 'a\n"b\nc",d,"e', 'quote_not_closed', 3],
    ['where text follows a quoted cell', 'a,b\n"1"x,2\n', 'quote_misplaced', 2],
    ['where a space follows a quoted cell', 'a,b\n"1" ,2\n', 'quote_misplaced', 2],
    ['where a lone CR follows a quoted cell', '"1"\rx\n', 'quote_misplaced', 1],
    ['where a lone CR ends the text after a quoted cell', 'a\n"1"\r', 'quote_misplaced', 2],
    ['where a quote stands within a plain cell', 'a\nb\n5" pipe,x\n', 'quote_misplaced', 3],
    ['where a quote follows a space', 'a\n "b"\n', 'quote_misplaced', 2],
  ])('%s', (_, text, code, line) => {
    expect(split(text).problem).toEqual({ code, line });
    expect(oracle(text)).toBeNull();
  });
});

test('U+0000 after a quoted cell is text like any other', () => {
  expect(split('"1"\0,2\n').problem).toEqual({ code: 'quote_misplaced', line: 1 });
});

describe('beside csv-parse', () => {
  function agrees(text: string, delimiter: string): void {
    const expected = oracle(text, delimiter);
    const { rows, problem } = split(text, delimiter);
    expect(problem === null, JSON.stringify(text)).toBe(expected !== null);
    if (expected !== null) expect(rows).toEqual(expected);
  }

  // Without U+0000, which csv-parse takes for the end of a record after a quoted cell.
  test.each([',', '\t'])(
    'any text of awkward characters reads the same, split at %j',
    (delimiter) => {
      const characters = fc.constantFrom('a', 'é', '\u{1f600}', ' ', delimiter, '"', '\n', '\r');
      const pieces = fc.constantFrom(
        '"',
        '""',
        '\r\n',
        `"${delimiter}"`,
        '"\n',
        '\n"',
        'word',
        '1.5',
      );
      const text = fc.array(fc.oneof(characters, pieces), { maxLength: 30 });
      fc.assert(
        fc.property(text, (parts) => agrees(parts.join(''), delimiter)),
        { numRuns: 6_000 },
      );
    },
  );

  test.each([',', '\t'])('any text reads the same wherever it is cut, split at %j', (delimiter) => {
    const pieces = fc.constantFrom('a', 'é', ' ', delimiter, '"', '""', '\n', '\r', '\r\n', '"\n');
    const text = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(30), { maxLength: 6 }), (whole, cuts) => {
        expect(split(whole, delimiter, cuts)).toEqual(split(whole, delimiter));
      }),
      { numRuns: 6_000 },
    );
  });

  test('what a writer quotes where it must comes back cell by cell', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'ü', ',', '"', '\n', '\r', ' ', '\0') });
    const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 12 });
    fc.assert(
      fc.property(table, fc.constantFrom('\n', '\r\n'), (rows, end) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = rows.map((row) => row.map(quoted).join(',') + end).join('');
        expect(split(text)).toMatchObject({ rows, problem: null });
      }),
    );
  });
});
