import { isUtf8 } from 'node:buffer';

/**
 * Cuts the pieces of a body so that no character is torn, and takes a byte order mark off: one; a
 * second one is text.
 */
export class Utf8Pieces {
  /** Where in the body what was taken last begins. */
  offset = 0;

  #rest: Buffer = Buffer.alloc(0);
  #taken = 0;
  #begun = false;

  /**
   * @param last no more comes: the body must not end within a character
   * @returns whole characters; null when they are not well-formed UTF-8
   */
  take(piece: Buffer, last: boolean): Buffer | null {
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = Buffer.alloc(0);
    this.offset = this.#taken;
    if (!this.#begun) {
      if (bytes.length < 3 && !last) {
        this.#rest = bytes;
        return Buffer.alloc(0);
      }
      this.#begun = true;
      const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
      if (marked) {
        bytes = bytes.subarray(3);
        this.offset = 3;
      }
    }
    const end = last ? bytes.length : wholeCharacters(bytes);
    // A copy: the piece it is cut from can be many times as long.
    if (end < bytes.length) this.#rest = Buffer.from(bytes.subarray(end));
    const whole = bytes.subarray(0, end);
    this.#taken = this.offset + whole.length;
    // As TextDecoder with `fatal` judges, but several times as fast.
    return isUtf8(whole) ? whole : null;
  }
}

/** Where the last character begins that may still go on; the end when all are whole. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
