import type { DeliveryProblem } from '../src/domain/rejections.ts';

const quote = '"';
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits a CSV text into rows, strictly after RFC 4180 where programs differ.
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

  readonly #text: string;
  readonly #delimiter: string;
  #at = 0;
  #nextLine = 1;
  #nextQuote = -1;

  /**
   * @param text without byte order mark
   * @param delimiter one character
   */
  constructor(text: string, delimiter: string) {
    this.#text = text;
    this.#delimiter = delimiter;
  }

  /** The cells of the next row; null at the end of the text, or of what can be read of it. */
  next(): string[] | null {
    const text = this.#text;
    while (this.#at < text.length && this.problem === null) {
      const start = this.#at;
      const end = indexOrEnd(text, '\n', start);
      if (this.#nextQuote < start) this.#nextQuote = indexOrEnd(text, quote, start);
      this.line = this.#nextLine;
      if (this.#nextQuote < end) return this.#quotedRow();
      this.#at = end + 1;
      this.#nextLine++;
      const crlf = end > start && end < text.length && text.charCodeAt(end - 1) === carriageReturn;
      const cellsEnd = crlf ? end - 1 : end;
      if (cellsEnd > start) return text.slice(start, cellsEnd).split(this.#delimiter);
    }
    return null;
  }

  /** Reads the row that begins here, in which there is a quote; it may run over several lines. */
  #quotedRow(): string[] | null {
    const text = this.#text;
    const cells: string[] = [];
    for (;;) {
      const end = text[this.#at] === quote ? this.#quotedCell(cells) : this.#plainCell(cells);
      if (end < 0) return null;
      this.#at = end + 1;
      if (text[end] === this.#delimiter) continue;
      this.#nextLine++;
      if (end === text.length || text.charCodeAt(end) === lineFeed) return cells;
      this.#at = end + 2;
      const crlf = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed;
      return crlf ? cells : this.#misplaced(this.#nextLine - 1);
    }
  }

  /** @returns where the cell ends; −1 with `problem` set */
  #quotedCell(cells: string[]): number {
    const closing = closingQuote(this.#text, this.#at + 1);
    if (closing < 0) {
      this.problem = { code: 'quote_not_closed', line: this.#nextLine };
      return -1;
    }
    const inner = this.#text.slice(this.#at + 1, closing);
    cells.push(inner.includes(quote) ? inner.replaceAll('""', quote) : inner);
    this.#nextLine += countLineFeeds(inner);
    return closing + 1;
  }

  /** @returns where the cell ends; −1 with `problem` set */
  #plainCell(cells: string[]): number {
    const end = cellEnd(this.#text, this.#delimiter, this.#at);
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

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
