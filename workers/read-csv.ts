import type { Cell } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { ShapePlan } from '../src/domain/shape-plan.ts';
import { CsvRows } from './csv.ts';
import { PlainCsv } from './plain-csv.ts';
import type { ByteRange, PieceReader, RecordSink } from './record-sink.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

/** What is read as text when a row is not plain: more and more while there are no plain ones. */
const textBytesMax = 64 * 1024;
const lineFeed = 0x0a;

/**
 * Reads a CSV body: a header row that names the declared fields in any order, then one row a
 * record (specification, POST /v1/webhooks; DECISIONS 2). Header names are matched exactly.
 *
 * Plain rows are read from their bytes where the sink takes them so (`plain-csv.ts`), the others
 * as text (`csv.ts`); it makes no difference but in speed.
 */
export class CsvReader implements PieceReader {
  readonly #sink: RecordSink;
  readonly #utf8 = new Utf8Pieces();
  readonly #csv: CsvRows;
  #header: Header | null = null;
  #cells: Cell[] = [];
  #plain: PlainCsv | null = null;
  readonly #delimiter: string;
  /** Where in the body the text begins that is being read. */
  #textOffset = 0;

  /** @param delimiter `,`, or a tab for TSV, which is the same otherwise, quotes included */
  constructor(delimiter: string, sink: RecordSink) {
    this.#delimiter = delimiter;
    this.#csv = new CsvRows(delimiter);
    this.#sink = sink;
    sink.where = () => this.#where();
  }

  push(piece: Buffer): DeliveryProblem | null {
    return this.#read(piece, false);
  }

  end(): DeliveryProblem | null {
    const problem = this.#read(Buffer.alloc(0), true);
    return problem ?? (this.#header === null ? { code: 'header_missing' } : null);
  }

  #read(piece: Buffer, last: boolean): DeliveryProblem | null {
    const bytes = this.#utf8.take(piece, last);
    if (bytes === null) return { code: 'invalid_utf8' };
    if (this.#sink.plainRecords === null) {
      this.#textOffset = this.#utf8.offset - Buffer.byteLength(this.#csv.rest);
      return this.#readText(bytes.toString(), last);
    }
    let textBytes = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#plain !== null && this.#csv.isEmpty) {
        const lines = this.#plain.lines;
        at = this.#plain.take(bytes, at);
        const taken = this.#plain.lines - lines;
        this.#csv.skipLines(taken);
        if (at === bytes.length) break;
        textBytes = taken > 0 ? 0 : Math.min(2 * textBytes + 64, textBytesMax);
      } else {
        // A row that goes on is read again: with twice the text each time, as often as it takes.
        textBytes = Math.max(textBytes, this.#csv.restChars);
      }
      const end = textEnd(bytes, at + textBytes);
      const problem = this.#readText(bytes.toString('utf8', at, end), false);
      if (problem !== null) return problem;
      at = end;
    }
    return last ? this.#readText('', true) : null;
  }

  #readText(text: string, last: boolean): DeliveryProblem | null {
    const csv = this.#csv;
    csv.add(text, last);
    if (this.#header === null) {
      const names = csv.next();
      if (csv.onlyCarriageReturns && (last || csv.problem !== null)) {
        return { code: 'line_end_invalid' };
      }
      if (names === null) return csv.problem;
      const header = judgeHeader(names, csv.line, this.#sink.plan);
      if ('code' in header) return header;
      this.#header = header;
      this.#cells = header.columns.map(() => undefined);
      const records = this.#sink.plainRecords?.(header.columns);
      if (records) this.#plain = new PlainCsv(this.#delimiter, header.width, records);
      for (const name of header.undeclared) this.#sink.undeclared(name);
    }
    this.#records(this.#header);
    return csv.problem;
  }

  #records({ columns, width }: Header): void {
    const csv = this.#csv;
    const cells = this.#cells;
    for (let row = csv.next(); row !== null; row = csv.next()) {
      if (row.length !== width) {
        this.#sink.brokenRecord({ field: null, code: 'cell_count' }, csv.line);
        continue;
      }
      for (let i = 0; i < columns.length; i++) {
        const column = columns[i]!;
        cells[i] = column < 0 ? undefined : row[column]!;
      }
      this.#sink.record(cells, csv.line);
    }
  }

  #where(): ByteRange {
    const { before, text } = this.#csv.row;
    return {
      offset: this.#textOffset + Buffer.byteLength(before),
      length: Buffer.byteLength(text.replace(/\r?\n$/, '')),
    };
  }
}

/** Behind a line feed, so that rows are whole, unless there is none any more. */
function textEnd(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(lineFeed, from);
  return found < 0 ? bytes.length : found + 1;
}

export interface Header {
  /** For each field of the shape its column; −1 when the header lacks it. */
  readonly columns: readonly number[];
  /** How many columns there are. */
  readonly width: number;
  readonly undeclared: readonly string[];
}

/** Matches the names of a header with the fields of a shape (DECISIONS 2). */
export function judgeHeader(
  names: readonly string[],
  line: number | null,
  plan: ShapePlan,
): Header | DeliveryProblem {
  const place = line === null ? {} : { line };
  const columns = plan.fields.map(() => -1);
  const undeclared: string[] = [];
  for (const [column, name] of names.entries()) {
    const position = plan.positions.get(name);
    if (position === undefined) undeclared.push(name);
    else if (columns[position] !== -1) return { code: 'header_field_twice', ...place, field: name };
    else columns[position] = column;
  }
  for (const [position, { name, required }] of plan.fields.entries()) {
    if (required && columns[position] === -1) {
      return { code: 'header_field_missing', ...place, field: name };
    }
  }
  return { columns, width: names.length, undeclared };
}
