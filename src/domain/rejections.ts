import { limits } from './limits.ts';
import type { Rejection } from './nouns.ts';

const mebibytes = (bytes: number) => bytes / (1024 * 1024);
const grouped = (count: number) => count.toLocaleString('en-US');

/** Why one field of a record, or the record itself, is rejected (DECISIONS 2). */
export const recordMessages = {
  cell_count: 'The row has another number of cells than the header.',
  record_not_object: 'The record is not an object.',
  field_missing: 'This required field is missing.',
  not_text: 'The field holds neither text nor a number.',
  period_blank: 'The period is blank.',
  period_invalid: 'The period is written in none of the accepted forms, or no such day exists.',
  period_grain_mismatch: "The text does not lie within one period of the field's grain.",
  period_out_of_range: 'The period begins outside 1900-01-01 to 2299-12-31.',
  value_not_decimal:
    'The value is not a plain decimal: digits, with one point and a minus at most.',
  number_inexact:
    'The number is stored as a binary float that no decimal of its precision stands for.',
  cell_error: 'The cell holds an error, such as #DIV/0!, and no value.',
  formula_not_computed: 'The cell holds a formula without a stored result.',
  value_too_long: `The value has more than ${limits.valueDigitsMax} digits.`,
  label_too_long: `The label has more than ${limits.labelCharsMax} characters.`,
  metric_blank: 'The metric is blank.',
  metric_undeclared: 'No metric with this key is declared.',
  label_missing: 'The shape has no field for a label that this metric carries.',
} as const;

/** Why a delivery as a whole is rejected: its body cannot be read to its end (DECISIONS 2). */
export const deliveryMessages = {
  invalid_utf8: 'The body is not well-formed UTF-8.',
  invalid_json: 'The body is not well-formed JSON.',
  lone_surrogate: 'The JSON has an escaped surrogate without its other half.',
  json_not_records: 'The JSON is neither an object nor an array of objects.',
  push_invalid: 'The body is no push: an object whose payload is an object.',
  header_missing: 'The body has no header row.',
  header_field_twice: 'The header names this field twice.',
  header_field_missing: 'The header lacks this required field.',
  line_end_invalid: 'Lines end with LF or CRLF; this body has only CR.',
  quote_misplaced:
    'A quote stands within a cell that is not quoted, or text follows a quoted cell.',
  quote_not_closed: 'A quoted cell is not closed before the body ends.',
  encoding_invalid: 'The body is not what its content encoding says, or is cut off.',
  unpacked_too_large: `The body unpacks to more than ${mebibytes(limits.unpackedBytesMax)} MiB.`,
  unpack_ratio: `The body unpacks to more than ${grouped(limits.unpackRatioMax)} times its size.`,
  too_many_frames: `The body has more than ${grouped(limits.zstdFramesMax)} zstd frames.`,
  container_too_large: `An XLSX or Parquet body may have ${mebibytes(
    limits.containerBytesMax,
  )} MiB at most.`,
  json_too_deep: `The JSON is nested deeper than ${grouped(limits.jsonDepthMax)}.`,
  too_many_columns: `There are more than ${grouped(limits.columnsMax)} columns.`,
  too_many_records: `There are more than ${grouped(limits.recordsMax)} records.`,
  cell_too_long: `A cell, name or text is longer than ${mebibytes(limits.cellCharsMax)} MiB.`,
  record_too_long: `A record is longer than ${mebibytes(limits.recordCharsMax)} MiB.`,
  xlsx_invalid: 'The body is no XLSX workbook, or a damaged one.',
  xlsx_encrypted: 'The workbook is protected by a password.',
  zip_false: 'A file in the workbook has another size or checksum than its ZIP directory says.',
  parquet_invalid: 'The body is no Parquet file, or its pages are not what its footer says.',
  parquet_unsupported: 'The Parquet file uses an encoding, codec or encryption that is not read.',
  column_nested: 'This field is a nested column; only flat ones are read.',
  personal_field:
    'This field is personal by now; parse the delivery under the current shape version.',
  too_many_rows: 'The body gives more rows than one delivery may; split it.',
} as const;

export type RecordCode = keyof typeof recordMessages;
export type DeliveryCode = keyof typeof deliveryMessages;

/** What is wrong with a record: the field by name, or null for the record as such. */
export interface RecordProblem {
  readonly field: string | null;
  readonly code: RecordCode;
}

/** One record's rejection. `line` is null where the format has no lines. */
export function recordRejection(
  problem: RecordProblem,
  record: number,
  line: number | null,
): Rejection & { record: number } {
  return { record, line, ...problem, message: recordMessages[problem.code] };
}

/** What is wrong with a delivery as a whole, and where, as far as that is known. */
export interface DeliveryProblem {
  readonly code: DeliveryCode;
  readonly line?: number;
  readonly field?: string;
}

/** The refusal of a delivery as a whole. */
export function deliveryRefusal(problem: DeliveryProblem): Rejection {
  const { code, line = null, field = null } = problem;
  return { record: null, line, field, code, message: deliveryMessages[code] };
}
