import type { PageHeader, SchemaElement } from 'hyparquet';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { checkRuns, deltaIsSound } from './parquet-runs.ts';
import type { UnpackBudget } from './unpack.ts';

const invalid: DeliveryProblem = { code: 'parquet_invalid' };
const unsupported: DeliveryProblem = { code: 'parquet_unsupported' };

export interface PageToCheck {
  readonly header: PageHeader;
  /** As it is stored. */
  readonly page: Uint8Array;
  readonly element: SchemaElement;
  readonly hasDictionary: boolean;
  readonly rowsLeft: number;
  readonly budget: UnpackBudget;
  /** Unpacks (a part of) the page. */
  readonly unpack: (body: Uint8Array, bytes: number) => Uint8Array;
}

export interface CheckedPage {
  readonly isDictionary: boolean;
  readonly values: number;
}

/**
 * Checks that a page of a flat column holds just the values that its header says: as many levels,
 * as many values, all within its bytes.
 */
export function checkPage(to: PageToCheck): CheckedPage | DeliveryProblem {
  const { header } = to;
  if (header.type === 'DICTIONARY_PAGE') return checkDictionary(to);
  if (header.type === 'DATA_PAGE') return checkFirstKind(to);
  if (header.type === 'DATA_PAGE_V2') return checkSecondKind(to);
  return unsupported;
}

function checkDictionary(to: PageToCheck): CheckedPage | DeliveryProblem {
  const { header, page, element, hasDictionary, unpack } = to;
  const count = header.dictionary_page_header?.num_values;
  if (hasDictionary || !isCount(count)) return invalid;
  const body = unpack(page, header.uncompressed_page_size);
  if (count > 8 * body.length) return invalid;
  return plainFits(body, 0, count, element) ? { isDictionary: true, values: 0 } : invalid;
}

function checkFirstKind(to: PageToCheck): CheckedPage | DeliveryProblem {
  const { header, page, element, rowsLeft, unpack } = to;
  const data = header.data_page_header;
  if (data === undefined || !isCount(data.num_values) || data.num_values > rowsLeft) return invalid;
  const count = data.num_values;
  const body = unpack(page, header.uncompressed_page_size);
  let at = 0;
  let values = count;
  if (element.repetition_type !== 'REQUIRED') {
    if (data.definition_level_encoding !== 'RLE') return unsupported;
    if (body.length < 4) return invalid;
    at = 4 + viewOf(body).getUint32(0, true);
    values = checkRuns(body, 4, at, 1, count);
    if (values < 0) return invalid;
  }
  return checkValues(to, body, at, values, data.encoding) ?? { isDictionary: false, values: count };
}

function checkSecondKind(to: PageToCheck): CheckedPage | DeliveryProblem {
  const { header, page, element, rowsLeft, unpack } = to;
  const data = header.data_page_header_v2;
  if (data === undefined || !isCount(data.num_values) || data.num_values > rowsLeft) return invalid;
  const count = data.num_values;
  const levels = data.definition_levels_byte_length;
  if (data.repetition_levels_byte_length !== 0 || !isCount(levels)) return invalid;
  if (levels > Math.min(page.length, header.uncompressed_page_size)) return invalid;
  let values = count;
  if (element.repetition_type !== 'REQUIRED') values = checkRuns(page, 0, levels, 1, count);
  else if (levels !== 0) return invalid;
  if (values < 0 || values !== count - data.num_nulls || data.num_rows !== count) return invalid;
  const stored = page.subarray(levels);
  const bytes = header.uncompressed_page_size - levels;
  const body = data.is_compressed === false ? stored : unpack(stored, bytes);
  return checkValues(to, body, 0, values, data.encoding) ?? { isDictionary: false, values: count };
}

/** @param at where in the page the values begin */
function checkValues(
  { element, hasDictionary, budget }: PageToCheck,
  body: Uint8Array,
  at: number,
  count: number,
  encoding: string,
): DeliveryProblem | null {
  const { type } = element;
  const isBytes = type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY';
  const sound = (is: boolean) => (is ? null : invalid);
  switch (encoding) {
    case 'PLAIN':
      return sound(plainFits(body, at, count, element));
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY': {
      const width = body[at];
      if (!hasDictionary || width === undefined || type === 'BOOLEAN') return invalid;
      return sound(width === 0 || checkRuns(body, at + 1, body.length, width, count) >= 0);
    }
    case 'RLE':
      if (type !== 'BOOLEAN' || at + 4 > body.length) return invalid;
      return sound(checkRuns(body, at + 4, body.length, 1, count) >= 0);
    case 'BYTE_STREAM_SPLIT': {
      const size = plainSize(element);
      if (type === 'BYTE_ARRAY' || type === 'BOOLEAN' || size <= 0) return invalid;
      return sound(at + count * size <= body.length);
    }
    case 'DELTA_BINARY_PACKED':
      if (type !== 'INT32' && type !== 'INT64') return invalid;
      return sound(deltaIsSound(body, at, count));
    case 'DELTA_LENGTH_BYTE_ARRAY':
    case 'DELTA_BYTE_ARRAY':
      if (!isBytes) return invalid;
      return checkLengths(body, at, count, encoding === 'DELTA_BYTE_ARRAY', budget);
    default:
      return unsupported;
  }
}

/** Texts by their lengths; with `prefixes`, by how much each has in common with the one before. */
function checkLengths(
  body: Uint8Array,
  at: number,
  count: number,
  prefixes: boolean,
  budget: UnpackBudget,
): DeliveryProblem | null {
  const reader = { view: viewOf(body), offset: at };
  const numbers = (): Int32Array | null => {
    if (!deltaIsSound(body, reader.offset, count)) return null;
    const found = new Int32Array(count);
    deltaBinaryUnpack(reader, count, found);
    return found;
  };
  const common = prefixes ? numbers() : new Int32Array(count);
  const lengths = common && numbers();
  if (common === null || lengths === null) return invalid;
  let bytes = 0;
  let shared = 0;
  let before = 0;
  for (let i = 0; i < count; i++) {
    const prefix = common[i]!;
    const length = lengths[i]!;
    if (prefix < 0 || prefix > before || length < 0) return invalid;
    before = prefix + length;
    bytes += length;
    shared += prefix;
  }
  return reader.offset + bytes <= body.length ? budget.take(shared) : invalid;
}

function plainFits(
  body: Uint8Array,
  start: number,
  count: number,
  element: SchemaElement,
): boolean {
  if (element.type === 'BOOLEAN') return start + Math.ceil(count / 8) <= body.length;
  if (element.type !== 'BYTE_ARRAY') {
    return plainSize(element) > 0 && start + count * plainSize(element) <= body.length;
  }
  const view = viewOf(body);
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + 4 > body.length) return false;
    at += 4 + view.getUint32(at, true);
  }
  return at <= body.length;
}

/** Bytes of a value, stored plainly. */
function plainSize({ type, type_length = 0 }: SchemaElement): number {
  if (type === 'FIXED_LEN_BYTE_ARRAY') return type_length;
  if (type === 'INT96') return 12;
  return type === 'INT64' || type === 'DOUBLE' ? 8 : 4;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
