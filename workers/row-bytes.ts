const pageBytes = 256 * 1024;
const minus = 0x2d;
const zero = 0x30;
const lineFeed = 0x0a;

/**
 * Gathers encoded rows as bytes, written into pages piece by piece: as strings first, the rows of
 * one delivery would leave several times their size to the garbage collector.
 */
export class RowBytes {
  /** Rows ended so far. */
  count = 0;

  readonly #bytesMax: number;
  /** Full ones. */
  #pages: Uint8Array[] = [];
  #page: Buffer = Buffer.allocUnsafeSlow(pageBytes);
  /** Bytes in use on the page, and on the full ones. */
  #at = 0;
  #before = 0;

  /** @param bytesMax how many bytes the rows may have in all */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The rows did not fit: they were thrown away, and so is what is added from now on. */
  get overflowed(): boolean {
    return this.#before + this.#at > this.#bytesMax;
  }

  bytes(piece: Uint8Array): void {
    this.#reserve(piece.length);
    this.#page.set(piece, this.#at);
    this.#at += piece.length;
  }

  /** A whole row, newline included. */
  row(text: string): void {
    this.#reserve(3 * text.length);
    this.#at += this.#page.write(text, this.#at);
    this.count++;
  }

  /** Text of ASCII characters only. */
  ascii(piece: string): void {
    this.#reserve(piece.length);
    const page = this.#page;
    let at = this.#at;
    for (let i = 0; i < piece.length; i++) page[at++] = piece.charCodeAt(i);
    this.#at = at;
  }

  /** A whole number of less than 2^31, in decimal digits. */
  integer(value: number): void {
    this.#reserve(11);
    const page = this.#page;
    if (value < 0) page[this.#at++] = minus;
    let rest = Math.abs(value);
    let digits = 1;
    for (let power = 10; power <= rest; power *= 10) digits++;
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      const shorter = Math.floor(rest / 10);
      page[at] = zero + rest - 10 * shorter;
      rest = shorter;
    }
    this.#at += digits;
  }

  endRow(): void {
    this.#reserve(1);
    this.#page[this.#at++] = lineFeed;
    this.count++;
  }

  /** All rows as one array with a buffer of its own, to be transferred; empty on overflow. */
  take(): Uint8Array<ArrayBuffer> {
    if (this.overflowed) return new Uint8Array(0);
    const all = new Uint8Array(this.#before + this.#at);
    let at = 0;
    for (const page of this.#pages) {
      all.set(page, at);
      at += page.length;
    }
    all.set(this.#page.subarray(0, this.#at), at);
    return all;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#page.length) return;
    this.#before += this.#at;
    if (this.#before > this.#bytesMax) this.#pages = [];
    else this.#pages.push(this.#page.subarray(0, this.#at));
    this.#page = Buffer.allocUnsafeSlow(Math.max(pageBytes, bytes));
    this.#at = 0;
  }
}
