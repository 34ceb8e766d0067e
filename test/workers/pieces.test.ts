import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cell } from '../../src/domain/records.ts';
import { compileShape } from '../../src/domain/shape-plan.ts';
import { CsvReader } from '../../workers/read-csv.ts';
import { JsonReader } from '../../workers/read-json.ts';
import { NdjsonReader } from '../../workers/read-ndjson.ts';
import type { ByteRange, PieceReader, RecordSink } from '../../workers/record-sink.ts';
import { Utf8Pieces } from '../../workers/utf8-pieces.ts';
import { someFields, someMetrics } from './some-delivery.ts';

/** Where a body may be cut; what is read must not depend on it. */
const cuts = fc.array(fc.nat(60), { maxLength: 8 });

function cutUp(body: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.filter((end) => end < body.length).toSorted((a, b) => a - b), body.length];
  return ends.map((end, i) => body.subarray(ends[i - 1] ?? 0, end));
}

/** Everything a reader tells, and where each record lies. */
function told(makeReader: (sink: RecordSink) => PieceReader, pieces: readonly Buffer[]) {
  const events: unknown[] = [];
  const sink: RecordSink = {
    plan: compileShape(someFields, someMetrics),
    wantsAll: false,
    plainRecords: null,
    where: null,
    problem: null,
    record: (cells, line) => events.push({ cells: cells.map(readable), line, ...place() }),
    brokenRecord: (problem, line) => events.push({ problem, line, ...place() }),
    undeclared: (name) => events.push(name),
    pause: async () => {},
  };
  const place = (): ByteRange => sink.where!();
  const reader = makeReader(sink);
  for (const piece of pieces) {
    const problem = reader.push(piece);
    if (problem !== null) return { problem };
  }
  const problem = reader.end();
  return problem === null ? { events } : { problem };
}

const readable = (cell: Cell) => (typeof cell === 'symbol' ? String(cell) : cell);
const readers = {
  csv: (sink: RecordSink) => new CsvReader(',', sink),
  json: (sink: RecordSink) => new JsonReader(sink),
  ndjson: (sink: RecordSink) => new NdjsonReader(sink),
};

const word = fc.constantFrom(
  'day',
  'shop',
  'x',
  'ä',
  '漢',
  '\u{1f600}',
  '\\u00e9',
  '\\ud83d\\ude00',
);
const scalar = fc.oneof(
  word.map((text) => `"${text}"`),
  fc.constantFrom('1', '-0.50', '1e5', 'true', 'null', '{}', '[]', '[[1,"]"],{"a":"}"}]'),
);
const object = fc
  .array(fc.tuple(fc.constantFrom('day', 'shop', 'revenue', 'other'), scalar), { maxLength: 4 })
  .map((pairs) => `{${pairs.map(([name, value]) => `"${name}":${value}`).join(', ')}}`);
const space = fc.constantFrom('', ' ', '\n', '\r\n', '\t ');
const element = fc
  .tuple(space, fc.oneof(object, object, scalar), space)
  .map((parts) => parts.join(''));
/** Mostly JSON; a character more or less makes it something else. */
const jsonText = fc
  .tuple(
    fc.array(element, { maxLength: 6 }),
    space,
    fc.nat(400),
    fc.constantFrom('', '', ',', ']', '"', '{'),
  )
  .map(([elements, blank, at, more]) => {
    const text = `${blank}[${elements.join(',')}]${blank}`;
    const place = at % (text.length + 1);
    return (more === '' ? text : text.slice(0, place) + more + text.slice(place)).toWellFormed();
  });

describe('JSON', () => {
  test('is taken when JSON.parse takes it, and gives the same elements, wherever it is cut', () => {
    fc.assert(
      fc.property(jsonText, cuts, (text, at) => {
        const body = Buffer.from(text);
        const found = told(readers.json, cutUp(body, at));
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(found).toEqual({ problem: { code: 'invalid_json' } });
          return;
        }
        if (!Array.isArray(expected)) return;
        if (found.problem !== undefined) {
          expect(found.problem).toEqual({ code: 'lone_surrogate' });
          expect(text).toMatch(/\\ud[89a-f]/);
          return;
        }
        const records = found.events!.filter((event) => typeof event === 'object');
        expect(records).toHaveLength(expected.length);
        for (const [i, record] of records.entries()) {
          const { offset, length } = record as ByteRange;
          const stretch = body.subarray(offset, offset + length).toString();
          expect(JSON.parse(stretch)).toEqual(expected[i]);
        }
        expect(found).toEqual(told(readers.json, [body]));
      }),
      { numRuns: 4_000 },
    );
  });
});

describe('wherever it is cut', () => {
  const line = fc.oneof(object, object, fc.constantFrom('', ' ', '7', '{"a":', '"\\ud800"'));
  const ndjson = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
  const cell = fc.constantFrom('a', 'ä', '"b""c"', '"d\n"', '', '\u{1f600}', 'e\r', '"f');
  const row = fc.array(cell, { minLength: 2, maxLength: 4 }).map((cells) => cells.join(','));
  const csv = fc
    .array(row, { maxLength: 6 })
    .map((rows) => ['\ufeffday,shop,revenue', ...rows].join('\n'));

  test.each([['newline-delimited JSON', 'ndjson', ndjson] as const, ['CSV', 'csv', csv] as const])(
    '%s reads the same',
    (_, format, text) => {
      fc.assert(
        fc.property(text, cuts, (whole, at) => {
          const body = Buffer.from(whole);
          expect(told(readers[format], cutUp(body, at))).toEqual(told(readers[format], [body]));
        }),
        { numRuns: 2_000 },
      );
    },
  );

  test('UTF-8 comes out whole, and what is none is found', () => {
    const bytes = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array)),
      fc
        .constantFrom('efbbbf', 'efbb', 'efbbbfefbbbf61', 'f09f98', 'eda080')
        .map((hex) => Buffer.from(hex, 'hex')),
    );
    fc.assert(
      fc.property(bytes, cuts, (body, at) => {
        const pieces = new Utf8Pieces();
        const taken = [
          ...cutUp(body, at).map((piece) => [piece, false] as const),
          [Buffer.alloc(0), true] as const,
        ];
        const found = taken.map(([piece, last]) => pieces.take(piece, last));
        let expected: string | null = null;
        try {
          expected = new TextDecoder('utf-8', { fatal: true }).decode(body);
        } catch {
          expect(found).toContain(null);
          return;
        }
        expect(found.map((piece) => piece!.toString()).join('')).toBe(expected);
      }),
      { numRuns: 4_000 },
    );
  });
});
