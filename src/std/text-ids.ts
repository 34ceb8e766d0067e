/** Texts that are kept as they are; more of them go into bytes. */
const quickMax = 16_384;
const pageBytes = 1024 * 1024;
const slotsMin = 1024;

/**
 * Numbers texts in the order in which they first come, from 0; texts are well formed.
 *
 * The first ones are in a Map, which is fastest. A Map of millions would take several times the
 * memory of their characters: the others lie as bytes in pages, found by open addressing.
 */
export class TextIds {
  readonly #quick = new Map<string, number>();
  readonly #pages: Buffer[] = [];
  #pageAt = pageBytes;
  /** Of each text in the pages: where it begins, how many bytes it has, and its hash. */
  #places = new Int32Array(3 * slotsMin);
  #count = 0;
  /** Indexes into the places; −1 in an empty slot. */
  #slots = new Int32Array(2 * slotsMin).fill(-1);
  #scratch = Buffer.alloc(4_096);

  get size(): number {
    return this.#quick.size + this.#count;
  }

  /** The text's number. */
  idOf(text: string): number {
    const known = this.#quick.get(text);
    if (known !== undefined) return known;
    if (this.#quick.size < quickMax) {
      const id = this.#quick.size;
      this.#quick.set(ownCopy(text), id);
      return id;
    }
    return quickMax + this.#packedIndex(text);
  }

  #packedIndex(text: string): number {
    if (3 * text.length > this.#scratch.length) this.#scratch = Buffer.alloc(3 * text.length);
    const bytes = this.#scratch.subarray(0, this.#scratch.write(text));
    const hash = hashOf(bytes);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot]! >= 0; slot = (slot + 1) & mask) {
      const index = this.#slots[slot]!;
      if (this.#places[3 * index + 2] === hash && bytes.equals(this.#bytesOf(index))) return index;
    }
    this.#slots[slot] = this.#count;
    this.#keep(bytes, hash);
    return this.#count - 1;
  }

  #bytesOf(index: number): Buffer {
    const place = this.#places[3 * index]!;
    const page = this.#pages[Math.floor(place / pageBytes)]!;
    const at = place % pageBytes;
    return page.subarray(at, at + this.#places[3 * index + 1]!);
  }

  #keep(bytes: Buffer, hash: number): void {
    if (this.#pageAt + bytes.length > pageBytes) {
      // A text that is longer than a page has one to itself, which nothing is added to.
      this.#pages.push(Buffer.allocUnsafeSlow(Math.max(pageBytes, bytes.length)));
      this.#pageAt = 0;
    }
    this.#pages.at(-1)!.set(bytes, this.#pageAt);
    if (3 * this.#count === this.#places.length) {
      const more = new Int32Array(2 * this.#places.length);
      more.set(this.#places);
      this.#places = more;
    }
    const place = (this.#pages.length - 1) * pageBytes + this.#pageAt;
    this.#places.set([place, bytes.length, hash], 3 * this.#count);
    this.#count++;
    this.#pageAt += bytes.length;
    if (2 * this.#count > this.#slots.length) this.#grow();
  }

  #grow(): void {
    const slots = new Int32Array(2 * this.#slots.length).fill(-1);
    const mask = slots.length - 1;
    for (let index = 0; index < this.#count; index++) {
      let slot = this.#places[3 * index + 2]! & mask;
      while (slots[slot]! >= 0) slot = (slot + 1) & mask;
      slots[slot] = index;
    }
    this.#slots = slots;
  }
}

/** FNV-1a, its high bits folded in. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

/** V8 copies parts shorter than this by itself. */
const slicedCharsMin = 13;

/** A part of a long text keeps all of it in memory; a copy by way of bytes does not. */
function ownCopy(text: string): string {
  return text.length < slicedCharsMin ? text : Buffer.from(text, 'utf16le').toString('utf16le');
}
