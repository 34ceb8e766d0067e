import { limits } from '../src/domain/limits.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';

const quote = '"';
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The row goes on beyond the text that has come. */
const short = -2;

/**
 * Splits a CSV text into rows, strictly after RFC 4180 where programs differ. The text comes in
 * pieces; where it is cut makes no difference.
 *
 * Rows end with LF or CRLF, mixed or not; a CR elsewhere is part of its cell. The last row needs
 * no end. A wholly empty line is no row, also where there is one column (`""` is one), but
 * counts as a line. Quotes may enclose a whole cell only, with `""` for a quote inside; nothing
 * is trimmed, and U+0000 is a character like any other.
 */
export class CsvRows {
  /** The line on which the last row began; the first line is 1. */
  line = 0;
  /** What made the rest of the text unreadable, once `next` has returned null. */
  problem: DeliveryProblem | null = null;

  readonly #delimiter: string;
  /** From the row on that had not ended; a row is read again when more has come. */
  #text = '';
  #last = false;
  #rowStart = 0;
  #at = 0;
  #nextLine = 1;
  #nextQuote = -1;

  /** @param delimiter one character */
  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  /** Adds text, whole characters of it, once `next` has returned null. */
  add(text: string, last: boolean): void {
    this.#text = this.#at < this.#text.length ? this.#text.slice(this.#at) + text : text;
    this.#last = last;
    this.#at = 0;
    this.#nextQuote = -1;
  }

  /** Rows were read elsewhere, from where the last one that was given here ended. */
  skipLines(lines: number): void {
    this.#nextLine += lines;
  }

  /** Whether all that was added belongs to rows that were given. */
  get isEmpty(): boolean {
    return this.restChars <= 0;
  }

  get restChars(): number {
    return this.#text.length - this.#at;
  }

  /** What was added and belongs to no row that was given. */
  get rest(): string {
    return this.#text.slice(this.#at);
  }

  /** The last row as it stands in the text, with its end; what was added last comes before it. */
  get row(): { readonly before: string; readonly text: string } {
    return {
      before: this.#text.slice(0, this.#rowStart),
      text: this.#text.slice(this.#rowStart, this.#at),
    };
  }

  /** Whether no line has ended, while carriage returns have come. */
  get onlyCarriageReturns(): boolean {
    return !this.#text.includes('\n') && this.line <= 1 && this.#text.includes('\r');
  }

  /** The cells of the next row; null at the end of the text, or of what can be read of it. */
  next(): string[] | null {
    const text = this.#text;
    while (this.#at < text.length && this.problem === null) {
      const start = this.#at;
      const found = text.indexOf('\n', start);
      const end = found < 0 ? text.length : found;
      if (this.#nextQuote < start) this.#nextQuote = indexOrEnd(text, quote, start);
      this.line = this.#nextLine;
      this.#rowStart = start;
      if (this.#nextQuote < end) return this.#judged(this.#quotedRow());
      if (found < 0 && !this.#last) {
        const lastCellAt = text.lastIndexOf(this.#delimiter) + 1;
        return this.#short(start, this.line, Math.max(start, lastCellAt));
      }
      this.#at = Math.min(end + 1, text.length);
      this.#nextLine++;
      const crlf = found > start && text.charCodeAt(end - 1) === carriageReturn;
      const cellsEnd = crlf ? end - 1 : end;
      if (cellsEnd > start) return this.#judged(this.#plainRow(start, cellsEnd));
    }
    return null;
  }

  #plainRow(start: number, end: number): string[] {
    return this.#text.slice(start, end).split(this.#delimiter, limits.columnsMax + 1);
  }

  #judged(cells: string[] | null): string[] | null {
    if (cells === null) return null;
    const { line } = this;
    if (cells.length > limits.columnsMax) this.problem = { code: 'too_many_columns', line };
    else if (this.#at - this.#rowStart <= limits.cellCharsMax) return cells;
    else if (this.#at - this.#rowStart > limits.recordCharsMax) {
      this.problem = { code: 'record_too_long', line };
    } else if (cells.some((cell) => cell.length > limits.cellCharsMax)) {
      this.problem = { code: 'cell_too_long', line };
    }
    return this.problem === null ? cells : null;
  }

  /** The row that begins at `start` is to be read again when more has come. */
  #short(start: number, line: number, lastCellAt: number): null {
    this.#at = start;
    this.#nextLine = line;
    if (charsAtLeast(this.#text, lastCellAt) > limits.cellCharsMax) {
      this.problem = { code: 'cell_too_long', line };
    } else if (this.#text.length - start > limits.recordCharsMax) {
      this.problem = { code: 'record_too_long', line };
    }
    return null;
  }

  /** Reads the row that begins here, in which there is a quote; it may run over several lines. */
  #quotedRow(): string[] | null {
    const text = this.#text;
    const { line } = this;
    const cells: string[] = [];
    for (;;) {
      const end = text[this.#at] === quote ? this.#quotedCell(cells) : this.#plainCell(cells);
      if (end === short || (end >= text.length && !this.#last)) {
        return this.#short(this.#rowStart, line, this.#at);
      }
      if (end < 0) return null;
      this.#at = Math.min(end + 1, text.length);
      if (cells.length > limits.columnsMax) return cells;
      if (text[end] === this.#delimiter) {
        if (this.#at < text.length || this.#last) continue;
        return this.#short(this.#rowStart, line, this.#at);
      }
      this.#nextLine++;
      if (end === text.length || text.charCodeAt(end) === lineFeed) return cells;
      if (end + 1 === text.length && !this.#last)
        return this.#short(this.#rowStart, line, this.#at);
      this.#at = end + 2;
      const crlf = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed;
      return crlf ? cells : this.#misplaced(this.#nextLine - 1);
    }
  }

  /** @returns where the cell ends; −1 with `problem` set; `short` */
  #quotedCell(cells: string[]): number {
    const closing = closingQuote(this.#text, this.#at + 1);
    if (closing < 0 || closing === this.#text.length - 1) {
      if (!this.#last) return short;
      if (closing < 0) {
        this.problem = { code: 'quote_not_closed', line: this.#nextLine };
        return -1;
      }
    }
    const inner = this.#text.slice(this.#at + 1, closing);
    cells.push(inner.includes(quote) ? inner.replaceAll('""', quote) : inner);
    this.#nextLine += countLineFeeds(inner);
    return closing + 1;
  }

  /** @returns where the cell ends; −1 with `problem` set; `short` */
  #plainCell(cells: string[]): number {
    const end = cellEnd(this.#text, this.#delimiter, this.#at);
    if (end === this.#text.length && !this.#last) return short;
    const cell = this.#text.slice(this.#at, end);
    cells.push(cell);
    if (!cell.includes(quote)) return end;
    this.#misplaced(this.#nextLine);
    return -1;
  }

  #misplaced(line: number): null {
    this.problem = { code: 'quote_misplaced', line };
    return null;
  }
}

function indexOrEnd(text: string, what: string, from: number): number {
  const index = text.indexOf(what, from);
  return index < 0 ? text.length : index;
}

/** The quote that closes a cell; −1 when none does. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}

/** Where an unquoted cell ends: at a delimiter, LF, CRLF or the end of the text. */
function cellEnd(text: string, delimiter: string, from: number): number {
  const stop = delimiter.charCodeAt(0);
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === stop || code === lineFeed) return at;
    if (code === carriageReturn && text.charCodeAt(at + 1) === lineFeed) return at;
  }
  return text.length;
}

/** How many characters the cell has, whatever comes yet, that begins at `at` and goes on. */
function charsAtLeast(text: string, at: number): number {
  if (text.length - at <= limits.cellCharsMax) return text.length - at;
  // What stands at the end may belong to the end of the row, or close the cell.
  const end = text.endsWith('\r') ? text.length - 1 : text.length;
  if (text[at] !== quote) return end - at;
  const inner = text.slice(at + 1, end).replaceAll('""', quote);
  return inner.endsWith(quote) ? inner.length - 1 : inner.length;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
