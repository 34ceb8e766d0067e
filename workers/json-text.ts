import { limits } from '../src/domain/limits.ts';

/** JSON text made ready for `JSON.parse`, which would turn numbers into floats. */
export interface PreparedJson {
  /** The same JSON with each number in quotes. */
  readonly bytes: Uint8Array;
  /** Where the first escaped surrogate without its other half stands; −1 when there is none. */
  readonly loneSurrogateAt: number;
  /** Where a bracket goes deeper than `jsonDepthMax`; −1 when none does. */
  readonly tooDeepAt: number;
  /** Where a text or number begins that is longer than `cellCharsMax` bytes; −1: none does. */
  readonly tooLongAt: number;
}

const lineFeed = 0x0a;
const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterU = 0x75;
/** E or e, D or d: set in lower case by this bit. */
const lowerCase = 0x20;
const letterD = 0x64;
const letterE = 0x65;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Puts every number of a JSON text in quotes, so that `JSON.parse` gives its source text.
 *
 * One pass over the bytes: the reviver of `JSON.parse` would give the source too, at ten times
 * the cost and with a stack that deep nesting overflows. Only what the grammar of RFC 8259 allows
 * is quoted, and not before a colon: text that `JSON.parse` refuses stays text that it refuses.
 * In newline-delimited JSON each line is treated by itself.
 *
 * @param json well-formed UTF-8
 * @param quoteNumbers false: leave numbers as they are
 * @param byLine each line is a JSON text of its own
 */
export function prepareJson(json: Uint8Array, quoteNumbers: boolean, byLine = false): PreparedJson {
  const out = new ByteWriter(json);
  let loneSurrogateAt = -1;
  let tooDeepAt = -1;
  let tooLongAt = -1;
  let depth = 0;
  let at = 0;
  while (at < json.length) {
    const start = at;
    const byte = json[at]!;
    if (byte === quote) {
      const found = passString(json, at + 1);
      if (loneSurrogateAt < 0) loneSurrogateAt = found.loneSurrogateAt;
      at = found.end;
      if (byLine && json[at - 1] === lineFeed) depth = 0;
    } else if (quoteNumbers && (byte === minus || isDigit(byte))) {
      const end = numberEnd(json, at);
      if (end > 0 && !colonFollows(json, end)) out.quote(at, end);
      at = end > 0 ? end : at + 1;
    } else {
      at++;
      if (byte === openBrace || byte === openBracket) {
        depth++;
        if (depth > limits.jsonDepthMax && tooDeepAt < 0) tooDeepAt = start;
      } else if (byte === closeBrace || byte === closeBracket) depth--;
      else if (byte === lineFeed && byLine) depth = 0;
    }
    if (at - start > limits.cellCharsMax && tooLongAt < 0) tooLongAt = start;
  }
  return { bytes: out.finish(), loneSurrogateAt, tooDeepAt, tooLongAt };
}

/** Copies a text up to where quotes are put in; without any, there is no copy. */
class ByteWriter {
  readonly #from: Uint8Array;
  #to: Uint8Array | null = null;
  #copied = 0;
  #length = 0;

  constructor(from: Uint8Array) {
    this.#from = from;
  }

  quote(start: number, end: number): void {
    // A number and what parts it from the next are two bytes at least; they become four.
    this.#to ??= new Uint8Array(2 * this.#from.length + 2);
    this.#copy(start);
    this.#to[this.#length++] = quote;
    this.#copy(end);
    this.#to[this.#length++] = quote;
  }

  finish(): Uint8Array {
    if (this.#to === null) return this.#from;
    this.#copy(this.#from.length);
    return this.#to.subarray(0, this.#length);
  }

  #copy(end: number): void {
    const to = this.#to!;
    const length = end - this.#copied;
    // Most stretches between numbers are short, where a loop beats a call of set().
    if (length > 64) to.set(this.#from.subarray(this.#copied, end), this.#length);
    else for (let i = 0; i < length; i++) to[this.#length + i] = this.#from[this.#copied + i]!;
    this.#length += length;
    this.#copied = end;
  }
}

/** Passes over a string, from after its quote to after the closing one, or the line's end. */
function passString(json: Uint8Array, start: number): { end: number; loneSurrogateAt: number } {
  let loneSurrogateAt = -1;
  let at = start;
  while (at < json.length) {
    const byte = json[at]!;
    if (byte === quote || byte === lineFeed) return { end: at + 1, loneSurrogateAt };
    if (byte !== backslash) {
      at++;
      continue;
    }
    const half = surrogateHalf(json, at);
    if (half === 'high' && surrogateHalf(json, at + 6) === 'low') at += 12;
    else {
      if (half !== null && loneSurrogateAt < 0) loneSurrogateAt = at;
      at += 2;
    }
  }
  return { end: at, loneSurrogateAt };
}

/** Which half of a pair the escape at `at` writes: `\uD800`–`\uDBFF`, `\uDC00`–`\uDFFF`. */
function surrogateHalf(json: Uint8Array, at: number): 'high' | 'low' | null {
  if (json[at] !== backslash || json[at + 1] !== letterU) return null;
  if ((json[at + 2]! | lowerCase) !== letterD) return null;
  const second = json[at + 3];
  if (second === undefined || !isHex(second)) return null;
  const value = second <= 0x39 ? second - zero : (second | lowerCase) - 0x61 + 10;
  if (value < 8) return null;
  return value < 12 ? 'high' : 'low';
}

/** Where the number that begins at `start` ends; −1 when the grammar does not allow it. */
function numberEnd(json: Uint8Array, start: number): number {
  let at = json[start] === minus ? start + 1 : start;
  const integer = at;
  at = digitsEnd(json, at);
  if (at === integer || (json[integer] === zero && at > integer + 1)) return -1;
  if (json[at] === point) {
    const end = digitsEnd(json, at + 1);
    if (end === at + 1) return -1;
    at = end;
  }
  if ((json[at]! | lowerCase) === letterE) {
    const sign = json[at + 1] === plus || json[at + 1] === minus ? 1 : 0;
    const end = digitsEnd(json, at + 1 + sign);
    if (end === at + 1 + sign) return -1;
    at = end;
  }
  return at;
}

function digitsEnd(json: Uint8Array, start: number): number {
  let at = start;
  while (at < json.length && isDigit(json[at]!)) at++;
  return at;
}

function colonFollows(json: Uint8Array, start: number): boolean {
  let at = start;
  while (json[at] === 0x20 || json[at] === 0x09 || json[at] === lineFeed || json[at] === 0x0d) at++;
  return json[at] === colon;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 0x39;
}

function isHex(byte: number): boolean {
  const lower = byte | lowerCase;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
