const depthMax = 16;
const elementsMax = 2_000_000;
const varintBytesMax = 10;

const boolTrue = 1;
const boolFalse = 2;
const byte = 3;
const i16 = 4;
const i64 = 6;
const double = 7;
const binary = 8;
const list = 9;
const struct = 12;

/**
 * Finds where a struct of Thrift's compact protocol ends, as far as Parquet uses that. Readers
 * trust such bytes: numbers without end, nesting and counts that lie would keep them busy for
 * hours or exhaust the memory.
 *
 * @returns −1 when the struct is cut off or no honest writer makes one like it
 */
export function thriftEnd(bytes: Uint8Array, start: number): number {
  return new Walk(bytes, start).struct(0);
}

class Walk {
  readonly #bytes: Uint8Array;
  #at: number;
  #elements = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  struct(depth: number): number {
    if (depth > depthMax) return -1;
    for (;;) {
      const header = this.#bytes[this.#at++];
      if (header === undefined || ++this.#elements > elementsMax) return -1;
      if (header === 0) return this.#at;
      if (header >> 4 === 0 && this.#varint() < 0) return -1;
      if (!this.#value(header & 0xf, depth, false)) return -1;
    }
  }

  /** @param listed booleans in a list are a byte each, as fields they are in the header */
  #value(type: number, depth: number, listed: boolean): boolean {
    if (type === boolTrue || type === boolFalse) return listed ? this.#skip(1) : true;
    if (type === byte) return this.#skip(1);
    if (type >= i16 && type <= i64) return this.#varint() >= 0;
    if (type === double) return this.#skip(8);
    if (type === binary) {
      const length = this.#varint();
      return length >= 0 && this.#skip(length);
    }
    if (type === list) return this.#list(depth + 1);
    return type === struct && this.struct(depth + 1) >= 0;
  }

  #list(depth: number): boolean {
    const header = this.#bytes[this.#at++];
    if (header === undefined || depth > depthMax) return false;
    const size = header >> 4 === 15 ? this.#varint() : header >> 4;
    if (size < 0 || size > this.#bytes.length - this.#at) return false;
    for (let i = 0; i < size; i++) {
      if (++this.#elements > elementsMax || !this.#value(header & 0xf, depth, true)) return false;
    }
    return true;
  }

  #skip(bytes: number): boolean {
    this.#at += bytes;
    return this.#at <= this.#bytes.length;
  }

  /** Large numbers lose digits here, which no length that fits does; −1 when there is none. */
  #varint(): number {
    let value = 0;
    for (let i = 0; i < varintBytesMax; i++) {
      const next = this.#bytes[this.#at++];
      if (next === undefined) return -1;
      value += (next & 0x7f) * 2 ** (7 * i);
      if (next < 0x80) return value;
    }
    return -1;
  }
}
