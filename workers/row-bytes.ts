/** Gathers encoded rows as bytes. */
export interface RowBytes {
  add(row: string): void;
  readonly count: number;
  /** All rows as one array with a buffer of its own, to be transferred. Ends the gathering. */
  take(): Uint8Array<ArrayBuffer>;
  /** After `take`: the rows did not fit, and were thrown away. */
  readonly overflowed: boolean;
}

/** Rows are joined to texts of about so many characters before they are made bytes. */
const textCharsMax = 64 * 1024;

/** @param bytesMax how many bytes the rows may have in all */
export function gatherRows(bytesMax: number): RowBytes {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let text = '';
  let count = 0;

  function flush(): void {
    const chunk = Buffer.from(text);
    text = '';
    bytes += chunk.length;
    if (bytes > bytesMax) chunks = [];
    else chunks.push(chunk);
  }

  return {
    add(row) {
      count++;
      if (bytes > bytesMax) return;
      text += row;
      if (text.length >= textCharsMax) flush();
    },
    get count() {
      return count;
    },
    get overflowed() {
      return bytes > bytesMax;
    },
    take() {
      flush();
      const all = new Uint8Array(bytes > bytesMax ? 0 : bytes);
      let at = 0;
      for (const chunk of chunks) {
        all.set(chunk, at);
        at += chunk.length;
      }
      chunks = [];
      return all;
    },
  };
}
