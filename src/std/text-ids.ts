import { secretSeed } from './secret-seed.ts';

/** Strings whose ids are kept beside the bytes; asking for those needs no encoding. */
const quickMax = 16_384;
/** Of the first page, and of those after several doublings: many deliveries have a few texts. */
const pageBytesMin = 1024;
const pageBytesMax = 1024 * 1024;
const slotsMin = 16;

/** Where texts are encoded, in this thread. */
let scratch = Buffer.alloc(4_096);

/** Never the first byte of UTF-8: what follows is UTF-16, since it is no well-formed text. */
const tornMark = 0xff;

/**
 * Numbers texts in the order in which they first come, from 0. A text is the same whether it comes
 * as a string or as its UTF-8 bytes.
 *
 * A Map of millions would take several times the memory of their characters: texts lie as bytes in
 * pages and are found by open addressing.
 */
export class TextIds {
  readonly #quick = new Map<string, number>();
  readonly #pages: Buffer[] = [];
  #pageAt = 0;
  /** Of each text: its page, where it begins there, how many bytes it has, and its hash. */
  #places = new Int32Array(4 * slotsMin);
  #count = 0;
  /** Indexes into the places; −1 in an empty slot. */
  #slots = new Int32Array(2 * slotsMin).fill(-1);

  readonly #max: number;

  /** @param max how many are numbered */
  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  get size(): number {
    return this.#count;
  }

  /** The text's number; −1 when it is new and as many are numbered as may be. */
  idOf(text: string): number {
    const known = this.#quick.get(text);
    if (known !== undefined) return known;
    const length = this.#encode(text);
    const id = this.idOfBytes(scratch, 0, length);
    if (id >= 0 && this.#quick.size < quickMax) this.#quick.set(ownCopy(text), id);
    return id;
  }

  /** The same of the text in `bytes[from..to)`, which is well-formed UTF-8. */
  idOfBytes(bytes: Uint8Array, from: number, to: number): number {
    const places = this.#places;
    const slots = this.#slots;
    const hash = hashOf(bytes, from, to);
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let index = slots[slot]!; index >= 0; index = slots[slot]!) {
      if (places[4 * index + 3] === hash && this.#isAt(index, bytes, from, to)) return index;
      slot = (slot + 1) & mask;
    }
    if (this.#count >= this.#max) return -1;
    slots[slot] = this.#count;
    return this.#keep(bytes.subarray(from, to), hash);
  }

  /** The text of a number that was given. */
  textOf(id: number): string {
    const page = this.#pages[this.#places[4 * id]!]!;
    const from = this.#places[4 * id + 1]!;
    const to = from + this.#places[4 * id + 2]!;
    return page[from] === tornMark && to > from
      ? page.toString('utf16le', from + 1, to)
      : page.toString('utf8', from, to);
  }

  #isAt(index: number, bytes: Uint8Array, from: number, to: number): boolean {
    const places = this.#places;
    if (places[4 * index + 2] !== to - from) return false;
    const page = this.#pages[places[4 * index]!]!;
    let at = places[4 * index + 1]!;
    for (let i = from; i < to; i++) if (page[at++] !== bytes[i]) return false;
    return true;
  }

  /** Writes the text to the scratch; how many bytes it has. */
  #encode(text: string): number {
    const bytesMax = 3 * text.length + 1;
    if (bytesMax > scratch.length) scratch = Buffer.alloc(bytesMax);
    if (text.isWellFormed()) return scratch.write(text);
    scratch[0] = tornMark;
    return 1 + scratch.write(text, 1, 'utf16le');
  }

  #keep(bytes: Uint8Array, hash: number): number {
    const page = this.#pages.at(-1);
    if (page === undefined || this.#pageAt + bytes.length > page.length) {
      const next = Math.min(2 * (page?.length ?? pageBytesMin / 2), pageBytesMax);
      this.#pages.push(Buffer.allocUnsafe(Math.max(next, bytes.length)));
      this.#pageAt = 0;
    }
    this.#pages.at(-1)!.set(bytes, this.#pageAt);
    const id = this.#count;
    if (4 * id === this.#places.length) {
      const more = new Int32Array(2 * this.#places.length);
      more.set(this.#places);
      this.#places = more;
    }
    this.#places.set([this.#pages.length - 1, this.#pageAt, bytes.length, hash], 4 * id);
    this.#count++;
    this.#pageAt += bytes.length;
    if (2 * this.#count > this.#slots.length) this.#grow();
    return id;
  }

  #grow(): void {
    const slots = new Int32Array(2 * this.#slots.length).fill(-1);
    const mask = slots.length - 1;
    for (let index = 0; index < this.#count; index++) {
      let slot = this.#places[4 * index + 3]! & mask;
      while (slots[slot]! >= 0) slot = (slot + 1) & mask;
      slots[slot] = index;
    }
    this.#slots = slots;
  }
}

const seed = secretSeed();

/** Four bytes at a time, multiplied by odd constants; high bits folded in. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = seed ^ (to - from);
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const word =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash ^ word, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

/** V8 copies parts shorter than this by itself. */
const slicedCharsMin = 13;

/** A part of a long text keeps all of it in memory; a copy by way of bytes does not. */
function ownCopy(text: string): string {
  return text.length < slicedCharsMin ? text : Buffer.from(text, 'utf16le').toString('utf16le');
}
