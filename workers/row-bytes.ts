const pageBytes = 256 * 1024;
const minus = 0x2d;
const zero = 0x30;
const lineFeed = 0x0a;

/** A page that the last rows did not fill; most deliveries fill none. */
let spare: Buffer<ArrayBuffer> | null = null;

/**
 * Gathers encoded rows as bytes, written into pages piece by piece: as strings first, the rows of
 * one delivery would leave several times their size to the garbage collector.
 */
export class RowBytes {
  /** Rows ended so far, those that were taken or let go included. */
  count = 0;

  readonly #heldMax: number;
  /** Full ones. */
  #pages: Uint8Array<ArrayBuffer>[] = [];
  /** Null: rows are let go, and only counted. */
  #page: Buffer<ArrayBuffer> | null;
  /** Bytes in use on the page, on the full ones, and of rows that were taken or let go. */
  #at = 0;
  #full = 0;
  #gone = 0;
  #letGo = false;
  #countTaken = 0;

  /** @param heldMax how many bytes of rows are held; beyond it all are let go */
  constructor(heldMax: number) {
    this.#heldMax = heldMax;
    this.#page = spare ?? Buffer.allocUnsafeSlow(pageBytes);
    spare = null;
  }

  /** Of all rows, those that were taken or let go included. */
  get bytesInAll(): number {
    return this.#gone + this.held;
  }

  get held(): number {
    return this.#full + this.#at;
  }

  /** The rows did not fit: they were let go, and so is what is added from now on. */
  get overflowed(): boolean {
    return this.#letGo;
  }

  bytes(piece: Uint8Array): void {
    const page = this.#reserve(piece.length);
    page?.set(piece, this.#at);
    this.#wrote(piece.length);
  }

  /** A whole row, newline included. */
  row(text: string): void {
    this.text(text);
    this.count++;
  }

  text(piece: string): void {
    const page = this.#reserve(3 * piece.length);
    this.#wrote(page === null ? Buffer.byteLength(piece) : page.write(piece, this.#at));
  }

  /** Text of ASCII characters only. */
  ascii(piece: string): void {
    const page = this.#reserve(piece.length);
    if (page !== null) {
      let at = this.#at;
      for (let i = 0; i < piece.length; i++) page[at++] = piece.charCodeAt(i);
    }
    this.#wrote(piece.length);
  }

  /** A whole number of less than 2^31, in decimal digits. */
  integer(value: number): void {
    const page = this.#reserve(11);
    let rest = Math.abs(value);
    let digits = 1;
    for (let power = 10; power <= rest; power *= 10) digits++;
    const length = value < 0 ? digits + 1 : digits;
    if (page !== null) {
      if (value < 0) page[this.#at] = minus;
      const first = this.#at + length - digits;
      for (let at = first + digits - 1; at >= first; at--) {
        const shorter = Math.floor(rest / 10);
        page[at] = zero + rest - 10 * shorter;
        rest = shorter;
      }
    }
    this.#wrote(length);
  }

  endRow(): void {
    const page = this.#reserve(1);
    if (page !== null) page[this.#at] = lineFeed;
    this.#wrote(1);
    this.count++;
  }

  /**
   * The rows that are held, in order, cut at any byte; each piece has a buffer of its own, to be
   * transferred. None when they were let go. They are whole rows if none has been begun.
   */
  take(): { readonly pieces: Uint8Array<ArrayBuffer>[]; readonly count: number } {
    const page = this.#page;
    if (page === null) return { pieces: [], count: 0 };
    const pieces = this.#pages;
    if (this.#at > 0) pieces.push(new Uint8Array(page.subarray(0, this.#at)));
    const count = this.count - this.#countTaken;
    this.#countTaken = this.count;
    this.#gone += this.held;
    this.#forget();
    return { pieces, count };
  }

  /** The page is free for the next rows; nothing may be added any more. */
  close(): void {
    if (this.#page?.length === pageBytes) spare = this.#page;
    this.#page = null;
  }

  #forget(): void {
    this.#pages = [];
    this.#full = 0;
    this.#at = 0;
  }

  #wrote(bytes: number): void {
    if (this.#page === null) this.#gone += bytes;
    else this.#at += bytes;
  }

  /** @returns a page with so much room; null when rows are let go */
  #reserve(bytes: number): Buffer<ArrayBuffer> | null {
    const page = this.#page;
    if (page === null || this.#at + bytes <= page.length) return page;
    if (this.held > this.#heldMax) {
      this.#letGo = true;
      this.#gone += this.held;
      this.#forget();
      this.#page = null;
      return null;
    }
    this.#full += this.#at;
    this.#pages.push(new Uint8Array(page.buffer, 0, this.#at));
    this.#page = Buffer.allocUnsafeSlow(Math.max(pageBytes, bytes));
    this.#at = 0;
    return this.#page;
  }
}
