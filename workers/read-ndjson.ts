import { limits } from '../src/domain/limits.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { type PreparedJson, prepareJson } from './json-text.ts';
import { elementTaker, parseJson, type TakeElement, textOf } from './read-json.ts';
import type { ByteRange, PieceReader, RecordSink } from './record-sink.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

const lineFeed = 0x0a;
const blankLine = /^[ \t\r]*$/;

/**
 * Reads newline-delimited JSON: one object a line, lines ending with LF or CRLF. Lines of white
 * space only are passed over; a line that is no JSON makes the whole body unreadable.
 */
export class NdjsonReader implements PieceReader {
  readonly #take: TakeElement;
  readonly #utf8 = new Utf8Pieces();
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  #where: () => ByteRange = () => ({ offset: 0, length: 0 });

  constructor(sink: RecordSink) {
    this.#take = elementTaker(sink);
    sink.where = () => this.#where();
  }

  push(piece: Buffer): DeliveryProblem | null {
    return this.#read(piece, false);
  }

  end(): DeliveryProblem | null {
    return this.#read(Buffer.alloc(0), true);
  }

  #read(piece: Buffer, last: boolean): DeliveryProblem | null {
    const bytes = this.#utf8.take(piece, last);
    if (bytes === null) return { code: 'invalid_utf8' };
    const offset = this.#utf8.offset - this.#rest.length;
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = last ? all.length : all.lastIndexOf(lineFeed) + 1;
    const lines = all.subarray(0, end);
    // A copy: what it is cut from can be many times as long.
    this.#rest = Buffer.from(all.subarray(end));
    const problem = this.#lines(lines, offset);
    if (problem !== null) return problem;
    if (this.#rest.length <= limits.recordCharsMax) return null;
    return { code: 'record_too_long', line: this.#line };
  }

  /** @param offset where in the body they begin */
  #lines(json: Buffer, offset: number): DeliveryProblem | null {
    const first = this.#line;
    const prepared = prepareJson(json, true, true);
    const flaws = flawsIn(prepared, json, first);
    const text = textOf(prepared.bytes);
    for (let at = 0; at < text.length; this.#line++) {
      const line = this.#line;
      const found = text.indexOf('\n', at);
      const end = found < 0 ? text.length : found;
      const one = text.slice(at, end);
      at = end + 1;
      if (blankLine.test(one)) continue;
      const flaw = flaws.find((problem) => problem.line === line);
      if (flaw?.code === 'json_too_deep') return flaw;
      const read = parseJson(one);
      if ('code' in read) return { ...read, line };
      if (flaw !== undefined) return flaw;
      this.#where = () => lineRange(json, offset, line - first);
      this.#take(read.value, line);
    }
    return null;
  }
}

/** What is wrong with lines that may be JSON all the same; the first of each kind. */
function flawsIn(prepared: PreparedJson, json: Buffer, first: number): DeliveryProblem[] {
  const places = [
    ['json_too_deep', prepared.tooDeepAt],
    ['cell_too_long', prepared.tooLongAt],
    ['lone_surrogate', prepared.loneSurrogateAt],
  ] as const;
  return places
    .filter(([, at]) => at >= 0)
    .map(([code, at]) => ({ code, line: first + lineFeeds(json, at) }));
}

/** How many lines end before a position. */
function lineFeeds(json: Buffer, position: number): number {
  let count = 0;
  for (let at = json.indexOf(lineFeed); at >= 0 && at < position; count++) {
    at = json.indexOf(lineFeed, at + 1);
  }
  return count;
}

/** Where the n-th line lies, from 0, without its end. */
function lineRange(json: Buffer, offset: number, n: number): ByteRange {
  let start = 0;
  for (let i = 0; i < n; i++) start = json.indexOf(lineFeed, start) + 1;
  const found = json.indexOf(lineFeed, start);
  let end = found < 0 ? json.length : found;
  if (end > start && json[end - 1] === 0x0d) end--;
  return { offset: offset + start, length: end - start };
}
