import { limits } from '../src/domain/limits.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';

/** Elements are given together, so that `JSON.parse` is not called for each of them. */
const batchBytes = 256 * 1024;

const comma = 0x2c;
const quote = 0x22;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Elements of the array, one after another with their commas. */
export interface ElementBatch {
  readonly bytes: Buffer;
  /** Where each begins and ends in `bytes`, white space around it included. */
  readonly ends: readonly number[];
  readonly starts: readonly number[];
}

/**
 * Finds the elements of a JSON array whose text comes in pieces. Strings and depth are all it
 * knows: whether an element is JSON is left to `JSON.parse`. A text that is no array is given as
 * `whole` at its end.
 *
 * What `JSON.parse` takes for one text comes out as the same elements; of what it refuses, some
 * batch is refused by it, or the number of its elements is not what was found here.
 */
export class JsonElements {
  problem: DeliveryProblem | null = null;
  /** The text, once it has ended and is no array. */
  whole: Buffer | null = null;
  /** Where in all that came the last batch begins, and whether it is all of the array. */
  batchOffset = 0;
  isOnly = false;

  #bytes: Buffer = Buffer.alloc(0);
  #offset = 0;
  #at = 0;
  #last = false;
  #batches = 0;
  #place: 'before' | 'array' | 'other' | 'after' = 'before';

  /** Adds text, once `next` has returned null. */
  add(bytes: Buffer, last: boolean): void {
    const rest = this.#bytes.subarray(this.#at);
    this.#offset += this.#at;
    this.#bytes = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    this.#at = 0;
    this.#last = last;
  }

  /** The next elements; null when there are none before more is added, or at all. */
  next(): ElementBatch | null {
    if (this.problem !== null) return null;
    if (this.#place === 'before') this.#begin();
    if (this.#place === 'array') return this.#elements();
    if (this.#place === 'other') this.#wait();
    else if (this.#place === 'after') this.#passOver();
    return null;
  }

  #begin(): void {
    this.#at = afterSpace(this.#bytes, this.#at);
    const first = this.#bytes[this.#at];
    if (first === undefined && !this.#last) return;
    if (first !== openBracket) {
      this.#place = 'other';
      return;
    }
    this.#place = 'array';
    this.#at++;
  }

  #wait(): void {
    if (this.#last) this.whole = this.#bytes.subarray(this.#at);
    else if (this.#bytes.length > limits.recordCharsMax) this.problem = { code: 'record_too_long' };
  }

  #passOver(): void {
    this.#at = afterSpace(this.#bytes, this.#at);
    if (this.#at < this.#bytes.length) this.problem = { code: 'invalid_json' };
  }

  #elements(): ElementBatch | null {
    const bytes = this.#bytes;
    const from = this.#at;
    const starts: number[] = [];
    const ends: number[] = [];
    let start = from;
    while (start - from < batchBytes) {
      const end = elementEnd(bytes, start);
      if (end === tooDeep) {
        this.problem = { code: 'json_too_deep' };
        return null;
      }
      const length = (end === cutOff ? bytes.length : end) - start;
      if (length > limits.recordCharsMax) this.problem = { code: 'record_too_long' };
      else if (end === cutOff && this.#last) this.problem = { code: 'invalid_json' };
      if (end === cutOff || this.problem !== null) break;
      starts.push(start - from);
      ends.push(end - from);
      start = end + 1;
      if (bytes[end] === comma) continue;
      if (bytes[end] === closeBracket) this.#place = 'after';
      else this.problem = { code: 'invalid_json' };
      break;
    }
    if (ends.length === 0) return null;
    this.#at = start;
    this.batchOffset = this.#offset + from;
    this.isOnly = this.#batches === 0 && this.#place === 'after';
    this.#batches++;
    return { bytes: bytes.subarray(from, from + ends.at(-1)!), starts, ends };
  }
}

const cutOff = -1;
const tooDeep = -2;

/** Where the comma or bracket stands that ends an element; `cutOff` or `tooDeep`. */
function elementEnd(bytes: Buffer, start: number): number {
  // The array itself is the first.
  let depth = 1;
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) {
      at = stringEnd(bytes, at + 1);
      if (at < 0) return cutOff;
    } else if (byte === openBrace || byte === openBracket) {
      depth++;
      if (depth > limits.jsonDepthMax) return tooDeep;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--;
      if (depth === 0) return at;
    } else if (byte === comma && depth === 1) return at;
  }
  return cutOff;
}

/** Where the quote stands that closes a string; −1 when none does. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) return at;
    if (byte === backslash) at++;
  }
  return -1;
}

function afterSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  return at;
}
