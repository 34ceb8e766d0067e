import { serialDate, sheetDecimal } from '../src/domain/exact-numbers.ts';
import { limits } from '../src/domain/limits.ts';
import { type Cell, errorCell, inexact, notComputed, notText } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { type Header, judgeHeader } from './read-csv.ts';
import type { RecordSink } from './record-sink.ts';
import { openWorkbook, StringItem, unescaped, type Workbook } from './xlsx-book.ts';
import { XmlReader } from './xml.ts';
import { unpackEntry } from './zip.ts';

const rowsMax = 1_048_576;
const invalid: DeliveryProblem = { code: 'xlsx_invalid' };

/**
 * Reads the first worksheet of an XLSX workbook: its first row that is not blank is the header, as
 * a CSV's; each later one is a record, its line the sheet's row number. Blank rows are passed over,
 * blank cells are empty text, what a row holds beyond the header's last column makes it broken.
 * Formulas count by their stored results.
 */
export async function readXlsx(bytes: Buffer, sink: RecordSink): Promise<DeliveryProblem | null> {
  const book = await openWorkbook(bytes);
  if ('code' in book) return book;
  const sheet = new SheetReader(book, sink);
  const reader = new XmlReader(sheet);
  const problem = await unpackEntry(book.sheet, book.budget, async (piece) => {
    const found = reader.push(piece) ?? sink.problem;
    if (found === null) await sink.pause();
    return found;
  });
  return problem ?? reader.end() ?? sink.problem ?? sheet.end();
}

/** Rows and cells must come in their order, as ECMA-376 says, so that none can be overwritten. */
class SheetReader {
  readonly #book: Workbook;
  readonly #sink: RecordSink;
  readonly #inline = new StringItem();
  #header: Header | null = null;
  #cells: Cell[] = [];
  #rowNumber = 0;
  /** By column, from 0; blank ones at the end are left out. */
  #row: Cell[] = [];
  #column = -1;
  #cell: RawCell | null = null;
  #inRow = false;
  #inSheet = false;
  #inValue = false;
  #inInline = false;
  #textChars = 0;

  constructor(book: Workbook, sink: RecordSink) {
    this.#book = book;
    this.#sink = sink;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): DeliveryProblem | null {
    if (name === 'sheetData') this.#inSheet = true;
    else if (!this.#inSheet) return null;
    else if (name === 'row') return this.#openRow(attributes.r);
    else if (name === 'c') return this.#openCell(attributes);
    else if (this.#cell === null) return null;
    else if (name === 'v') this.#inValue = true;
    else if (name === 'f') this.#cell.formula = true;
    else if (name === 'is') this.#inInline = true;
    else if (this.#inInline) this.#inline.open(name);
    return null;
  }

  close(name: string): DeliveryProblem | null {
    if (name === 'sheetData') this.#inSheet = false;
    else if (!this.#inSheet) return null;
    else if (name === 'row') return this.#closeRow();
    else if (name === 'c') return this.#closeCell();
    else if (name === 'v') this.#inValue = false;
    else if (name === 'is') this.#inInline = false;
    else if (this.#inInline) this.#inline.close(name);
    return null;
  }

  text(part: string): void {
    if (this.#cell === null) return;
    if (this.#inValue) this.#cell.value = (this.#cell.value ?? '') + part;
    else if (this.#inInline) this.#inline.add(part);
  }

  end(): DeliveryProblem | null {
    return this.#header === null ? { code: 'header_missing' } : null;
  }

  #openRow(r: string | undefined): DeliveryProblem | null {
    const number = r === undefined ? this.#rowNumber + 1 : wholeNumber(r);
    if (this.#inRow || !(number > this.#rowNumber && number <= rowsMax)) return invalid;
    this.#inRow = true;
    this.#rowNumber = number;
    this.#row = [];
    this.#column = -1;
    return null;
  }

  #openCell({ r, t = 'n', s = '0' }: Readonly<Record<string, string>>): DeliveryProblem | null {
    const column = r === undefined ? this.#column + 1 : columnOf(r, this.#rowNumber);
    if (!this.#inRow || this.#cell !== null || column <= this.#column) return invalid;
    if (column >= limits.columnsMax) return { code: 'too_many_columns', line: this.#rowNumber };
    this.#column = column;
    this.#cell = { type: t, style: wholeNumber(s), value: null, formula: false };
    this.#inValue = false;
    this.#inInline = false;
    this.#inline.begin();
    return null;
  }

  #closeCell(): DeliveryProblem | null {
    const raw = this.#cell;
    if (raw === null) return invalid;
    this.#cell = null;
    const cell = this.#read(raw);
    if (cell === undefined) return invalid;
    if (typeof cell === 'string') {
      if (cell === '') return null;
      if (cell.length > limits.cellCharsMax)
        return { code: 'cell_too_long', line: this.#rowNumber };
      // A shared string can be named by any number of cells.
      this.#textChars += cell.length;
      if (this.#textChars > limits.unpackedBytesMax) return { code: 'unpacked_too_large' };
    }
    while (this.#row.length < this.#column) this.#row.push('');
    this.#row.push(cell);
    return null;
  }

  /** @returns undefined when the cell cannot be read */
  #read({ type, style, value, formula }: RawCell): Cell {
    if (type === 'inlineStr') return this.#inline.end() ?? undefined;
    if (value === null) return formula ? notComputed : '';
    if (type === 's') return this.#book.strings[wholeNumber(value)];
    if (type === 'str') return unescaped(value) ?? undefined;
    if (type === 'b') return notText;
    if (type === 'e') return errorCell;
    if (type === 'd') return value;
    if (type !== 'n') return undefined;
    // A format that does not exist shows the number as it is.
    if (this.#book.dateStyles[style] && value !== '') {
      return serialDate(value, this.#book.since1904) ?? value;
    }
    return sheetDecimal(value) ?? inexact;
  }

  #closeRow(): DeliveryProblem | null {
    this.#inRow = false;
    const row = this.#row;
    if (row.length === 0) return null;
    const line = this.#rowNumber;
    if (this.#header === null) {
      const names = row.map((cell) => (typeof cell === 'string' ? cell : ''));
      const header = judgeHeader(names, line, this.#sink.plan);
      if ('code' in header) return header;
      this.#header = header;
      this.#cells = header.columns.map(() => undefined);
      for (const name of header.undeclared) this.#sink.undeclared(name);
      return null;
    }
    const { columns, width } = this.#header;
    if (row.length > width) {
      this.#sink.brokenRecord({ field: null, code: 'cell_count' }, line);
      return null;
    }
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      this.#cells[i] = column < 0 ? undefined : (row[column] ?? '');
    }
    this.#sink.record(this.#cells, line);
    return null;
  }
}

interface RawCell {
  readonly type: string;
  readonly style: number;
  /** Null: there is none. */
  value: string | null;
  formula: boolean;
}

/** The column, from 0, of a reference such as `AB12` in that row; −1 when it is none. */
function columnOf(reference: string, row: number): number {
  const [, letters, number] = /^([A-Z]{1,4})([0-9]{1,7})$/.exec(reference) ?? [];
  if (letters === undefined || Number(number) !== row) return -1;
  let column = 0;
  for (let i = 0; i < letters.length; i++) column = column * 26 + letters.charCodeAt(i) - 64;
  return column - 1;
}

/** −1 when it is none. */
function wholeNumber(text: string): number {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
}
