import { brotliDecompressSync, crc32, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { ColumnMetaData, DecodedArray, SchemaElement, SchemaTree } from 'hyparquet';
import { parquetHeader, readColumn } from 'hyparquet/src/column.js';
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { compressors as libraryCompressors } from 'hyparquet-compressors';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { type CheckedPage, checkPage } from './parquet-page.ts';
import { thriftEnd } from './thrift-check.ts';
import type { UnpackBudget } from './unpack.ts';

const invalid: DeliveryProblem = { code: 'parquet_invalid' };
const unsupported: DeliveryProblem = { code: 'parquet_unsupported' };

type Decompress = (input: Uint8Array, outputLength: number) => Uint8Array;

/** Each page has a buffer of its own, so that nothing beyond its end can be read. */
const own = (bytes: Uint8Array) => new Uint8Array(bytes);
const decompressors: Record<string, Decompress | undefined> = {
  GZIP: (input, length) => own(gunzipSync(input, { maxOutputLength: Math.max(1, length) })),
  BROTLI: (input, length) =>
    own(brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) })),
  ZSTD: (input, length) => own(zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) })),
  LZ4: libraryCompressors.LZ4,
  LZ4_RAW: libraryCompressors.LZ4_RAW,
};

/** A flat column of one row group. */
export interface ColumnChunk {
  /** Its pages. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly meta: ColumnMetaData;
  readonly element: SchemaElement;
  readonly rows: number;
}

/**
 * Decodes the values of a flat column as they are stored: numbers, bigints, bytes, null. Each page
 * is checked before it is decoded, and unpacked once.
 */
export function decodeChunk(
  chunk: ColumnChunk,
  budget: UnpackBudget,
): readonly DecodedArray[] | DeliveryProblem {
  try {
    const pages = checkedPages(chunk, budget);
    return 'code' in pages ? pages : decode(chunk, pages as Uint8Array[]);
  } catch {
    // Whatever the decoders throw is about the bytes.
    return invalid;
  }
}

/** @returns the unpacked pages, in order, of those that were packed */
function checkedPages(
  { bytes, meta, element, rows }: ColumnChunk,
  budget: UnpackBudget,
): readonly Uint8Array[] | DeliveryProblem {
  const packed = meta.codec !== 'UNCOMPRESSED';
  if (packed && meta.codec !== 'SNAPPY' && !decompressors[meta.codec]) return unsupported;
  const unpacked: Uint8Array[] = [];
  let hasDictionary = false;
  let seen = 0;
  for (let at = 0; seen < rows; ) {
    const start = thriftEnd(bytes, at);
    if (start < 0) return invalid;
    const header = parquetHeader({ view: new DataView(bytes.buffer), offset: at });
    const { compressed_page_size: size, uncompressed_page_size: unpackedSize } = header;
    if (!isCount(size) || !isCount(unpackedSize) || start + size > bytes.length) return invalid;
    const page = bytes.subarray(start, start + size);
    if (typeof header.crc === 'number' && header.crc >>> 0 !== crc32(page)) return invalid;
    const problem = budget.take(unpackedSize);
    if (problem !== null) return problem;
    const unpack = (body: Uint8Array, length: number) => {
      if (!packed) return body;
      const whole = decompressPage(body, length, meta.codec, decompressors as never);
      unpacked.push(whole);
      return whole;
    };
    const checked: CheckedPage | DeliveryProblem = checkPage({
      ...{ header, page, unpack, element, hasDictionary, budget },
      rowsLeft: rows - seen,
    });
    if ('code' in checked) return checked;
    seen += checked.values;
    hasDictionary ||= checked.isDictionary;
    at = start + size;
  }
  return unpacked;
}

function decode(chunk: ColumnChunk, pages: Uint8Array[]): readonly DecodedArray[] {
  const { bytes, meta, element, rows } = chunk;
  // Without its meaning, the column comes as it is stored: as floats, decimals would lose digits.
  const { type, type_length, repetition_type, name } = element;
  const plain: SchemaElement = { type, type_length, repetition_type, name };
  const leaf: SchemaTree = { count: 1, element: plain, children: [], path: [name] };
  const root = { count: 2, element: { name: 'root' }, children: [leaf], path: [] };
  const next = () => pages.shift()!;
  const { data } = readColumn(
    { view: new DataView(bytes.buffer), offset: 0 },
    { groupStart: 0, selectStart: 0, selectEnd: rows, groupRows: rows },
    {
      ...{ ...meta, pathInSchema: [name], element: plain, schemaPath: [root, leaf], utf8: false },
      ...{ compressors: { [meta.codec]: next }, parsers: { ...DEFAULT_PARSERS, ...asStored } },
    } as never,
  );
  return data;
}

/** INT96 is read as nanoseconds since 1970. */
const asStored = { timestampFromNanoseconds: (nanoseconds: bigint) => nanoseconds };

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
