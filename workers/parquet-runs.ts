/**
 * Looks at the encodings of Parquet that say how many values follow, before a decoder believes
 * them: it would write as many as they say.
 */

/**
 * Checks that runs of the hybrid encoding (RLE and bit-packed) lie in `page` from `at` to `end` and
 * give `count` values.
 *
 * @returns of values one bit wide, how many are 1; else 0; −1 when the runs are not so
 */
export function checkRuns(
  page: Uint8Array,
  at: number,
  end: number,
  width: number,
  count: number,
): number {
  if (width > 32 || end > page.length) return -1;
  const reader = { page, at };
  let left = count;
  let ones = 0;
  while (left > 0) {
    const header = varint(reader, end);
    if (header < 0) return -1;
    const run = Math.floor(header / 2);
    if (header % 2 === 1) {
      // Groups of eight; the last one is filled up.
      if (run === 0 || run * 8 >= left + 8 || reader.at >= end) return -1;
      const values = Math.min(left, run * 8);
      if (reader.at + Math.ceil((values * width) / 8) > end) return -1;
      if (width === 1) ones += bitsSet(page, reader.at, values);
      reader.at += run * width;
      left -= values;
    } else {
      const bytes = Math.ceil(width / 8);
      if (run === 0 || run > left || reader.at + bytes > end) return -1;
      if (width === 1) ones += page[reader.at]! * run;
      reader.at += bytes;
      left -= run;
    }
  }
  return ones;
}

/** Whether a DELTA_BINARY_PACKED stretch of `count` values lies in `page` from `at` on. */
export function deltaIsSound(page: Uint8Array, at: number, count: number): boolean {
  const reader = { page, at };
  const end = page.length;
  const blockSize = varint(reader, end);
  const miniblocks = varint(reader, end);
  const total = varint(reader, end);
  const first = varint(reader, end);
  if (total !== count || first < 0 || !(miniblocks > 0 && blockSize <= 2 ** 20)) return false;
  const perMiniblock = blockSize / miniblocks;
  if (perMiniblock < 8 || perMiniblock % 8 !== 0) return false;
  let left = count - 1;
  while (left > 0) {
    if (varint(reader, end) < 0 || reader.at + miniblocks > end) return false;
    const widths = reader.at;
    reader.at += miniblocks;
    for (let i = 0; i < miniblocks && left > 0; i++) {
      const width = page[widths + i]!;
      const values = Math.min(left, perMiniblock);
      if (width > 64 || reader.at + Math.ceil((values * width) / 8) > end) return false;
      reader.at += (perMiniblock * width) / 8;
      left -= values;
    }
  }
  return true;
}

/** Large numbers lose digits, which no count that is believed does; −1 when there is none. */
function varint(reader: { page: Uint8Array; at: number }, end: number): number {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    if (reader.at >= end) return -1;
    const next = reader.page[reader.at++]!;
    value += (next & 0x7f) * 2 ** (7 * i);
    if (next < 0x80) return value;
  }
  return -1;
}

function bitsSet(page: Uint8Array, at: number, count: number): number {
  let set = 0;
  for (let i = 0; i < count; i++) set += (page[at + (i >> 3)]! >> (i & 7)) & 1;
  return set;
}
