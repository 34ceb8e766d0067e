const pageBytes = 256 * 1024;
/** Before the first row, and after the last. */
const nothing: Buffer<ArrayBuffer> = Buffer.alloc(0);

/** A page that the last rows did not fill; most deliveries fill none. */
let spare: Buffer<ArrayBuffer> | null = null;

/**
 * Gathers encoded rows as bytes, written into pages piece by piece: as strings first, the rows of
 * one delivery would leave several times their size to the garbage collector.
 */
export class RowBytes {
  /** Rows ended so far, those that were taken or let go included. */
  count = 0;
  /** Where on the page of `room` the next byte belongs. */
  at = 0;

  readonly #heldMax: number;
  /** Full ones. */
  #pages: Uint8Array<ArrayBuffer>[] = [];
  /** When rows are let go, it is written over again and again, and only counted. */
  #page = nothing;
  /** Bytes on the full pages, and of rows that were taken or let go. */
  #full = 0;
  #gone = 0;
  #letGo = false;
  #countTaken = 0;

  /** @param heldMax how many bytes of rows are held; beyond it all are let go */
  constructor(heldMax: number) {
    this.#heldMax = heldMax;
  }

  /** Of all rows, those that were taken or let go included. */
  get bytesInAll(): number {
    return this.#gone + this.#full + this.at;
  }

  get held(): number {
    return this.#letGo ? 0 : this.#full + this.at;
  }

  /** The rows did not fit: they were let go, and so is what is added from now on. */
  get overflowed(): boolean {
    return this.#letGo;
  }

  /** The page with room for so many bytes from `at` on; who writes there moves `at`. */
  room(bytes: number): Buffer<ArrayBuffer> {
    return this.at + bytes <= this.#page.length ? this.#page : this.#nextPage(bytes);
  }

  /** A whole row, newline included. */
  row(text: string): void {
    const page = this.room(3 * text.length);
    this.at += page.write(text, this.at);
    this.count++;
  }

  /**
   * The rows that are held, in order, cut at any byte; each piece has a buffer of its own, to be
   * transferred. None when they were let go. They are whole rows if none has been begun.
   */
  take(): { readonly pieces: Uint8Array<ArrayBuffer>[]; readonly count: number } {
    if (this.#letGo) return { pieces: [], count: 0 };
    const pieces = this.#pages;
    if (this.at > 0) pieces.push(new Uint8Array(this.#page.subarray(0, this.at)));
    const count = this.count - this.#countTaken;
    this.#countTaken = this.count;
    this.#forget();
    return { pieces, count };
  }

  /** The page is free for the next rows; nothing may be added any more. */
  close(): void {
    if (this.#page.length === pageBytes) spare = this.#page;
    this.#page = nothing;
  }

  #forget(): void {
    this.#gone += this.#full + this.at;
    this.#pages = [];
    this.#full = 0;
    this.at = 0;
  }

  #nextPage(bytes: number): Buffer<ArrayBuffer> {
    // Most deliveries have no rejections, and need no page for them.
    if (this.#page === nothing && spare !== null && bytes <= spare.length) {
      this.#page = spare;
      spare = null;
      return this.#page;
    }
    if (!this.#letGo && this.held > this.#heldMax) {
      this.#letGo = true;
      this.#forget();
    }
    if (this.#letGo) {
      this.#gone += this.at;
      if (this.#page.length < bytes) this.#page = Buffer.allocUnsafeSlow(bytes);
    } else {
      this.#full += this.at;
      if (this.at > 0) this.#pages.push(new Uint8Array(this.#page.buffer, 0, this.at));
      this.#page = Buffer.allocUnsafeSlow(Math.max(pageBytes, bytes));
    }
    this.at = 0;
    return this.#page;
  }
}
