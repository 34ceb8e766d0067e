import type { Cell } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { ShapePlan } from '../src/domain/shape-plan.ts';
import { CsvRows } from './csv.ts';
import type { ByteRange, PieceReader, RecordSink } from './record-sink.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

/**
 * Reads a CSV body: a header row that names the declared fields in any order, then one row a
 * record (specification, POST /v1/webhooks; DECISIONS 2). Header names are matched exactly.
 */
export class CsvReader implements PieceReader {
  readonly #sink: RecordSink;
  readonly #utf8 = new Utf8Pieces();
  readonly #csv: CsvRows;
  #header: Header | null = null;
  #cells: Cell[] = [];
  /** Where in the body the text begins that is being read. */
  #textOffset = 0;

  /** @param delimiter `,`, or a tab for TSV, which is the same otherwise, quotes included */
  constructor(delimiter: string, sink: RecordSink) {
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
    const csv = this.#csv;
    this.#textOffset = this.#utf8.offset - Buffer.byteLength(csv.rest);
    csv.add(bytes.toString(), last);
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
