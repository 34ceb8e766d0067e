import { limits } from '../src/domain/limits.ts';
import type { PlainRecords } from './record-sink.ts';

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Reads the rows of a CSV that are plain, from their bytes: whole in this piece, with as many
 * cells as the header, without quotes and lone carriage returns, and nothing wrong with them. The
 * others are left to `CsvRows`, which says what is right (`csv.ts`).
 */
export class PlainCsv {
  /** Line feeds of the rows that were taken, empty lines included. */
  lines = 0;

  readonly #records: PlainRecords;
  readonly #delimiter: number;
  readonly #ends: Int32Array;

  /** @param width how many cells each row has */
  constructor(delimiter: string, width: number, records: PlainRecords) {
    this.#records = records;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#ends = new Int32Array(width);
  }

  /** Takes rows from `at` on. @returns where the first row begins that was not taken */
  take(bytes: Buffer, at: number): number {
    for (let start = at; ; ) {
      const end = this.#row(bytes, start);
      if (end < 0) return start;
      start = end;
      this.lines++;
    }
  }

  /** @returns where the next row begins; −1 when this one was not taken */
  #row(bytes: Buffer, start: number): number {
    const delimiter = this.#delimiter;
    const ends = this.#ends;
    const last = ends.length - 1;
    let column = 0;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!;
      // The delimiters too are among the few that come before the digits.
      if (byte > 0x2c) continue;
      if (byte === delimiter) {
        if (column === last) return -1;
        ends[column++] = at;
      } else if (byte === lineFeed) {
        if (at === start) return at + 1;
        return this.#ended(bytes, start, at, column) ? at + 1 : -1;
      } else if (byte === quote) {
        return -1;
      } else if (byte === carriageReturn && bytes[at + 1] !== lineFeed) {
        return -1;
      }
    }
    return -1;
  }

  #ended(bytes: Buffer, start: number, lineEnd: number, column: number): boolean {
    const ends = this.#ends;
    const end = bytes[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd;
    if (end === start) return true;
    if (column !== ends.length - 1 || lineEnd - start > limits.cellCharsMax) return false;
    ends[column] = end;
    return this.#records.take(bytes, start, ends);
  }
}
