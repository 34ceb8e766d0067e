import { isUtf8 } from 'node:buffer';
import type { SchemaElement } from 'hyparquet';
import { dayOf } from '../src/domain/days.ts';
import { doubleDecimal, floatDecimal, scaledDecimal } from '../src/domain/exact-numbers.ts';
import { limits } from '../src/domain/limits.ts';
import { dayToText } from '../src/domain/periods.ts';
import { type Cell, inexact, notText } from '../src/domain/records.ts';

/** What a stored value is as a cell; a code where it makes the whole body unreadable. */
export type ToCell = (value: unknown) => Cell | CellProblem;

/** A value for which there is no cell. */
export interface CellProblem {
  readonly code: 'invalid_utf8' | 'cell_too_long' | 'parquet_invalid';
}

const dayMin = dayOf(0, 1, 1);
const dayMax = dayOf(9999, 12, 31);
/** More than a value may have digits: such bytes are no number. */
const decimalBytesMax = 64;

/**
 * How the values of a column become cells. Whole numbers and decimals keep every digit, floats are
 * taken where one decimal stands for them, days and instants become what a period's text is; what
 * has no text (booleans, times of day, raw bytes) is no text. Null is blank.
 *
 * @returns null when the column's declaration makes no sense
 */
export function cellsOf(element: SchemaElement): ToCell | null {
  const convert = converter(element);
  if (convert === null) return null;
  return (value) => {
    if (value === null) return null;
    // The decoder found nothing where the dictionary should have a value.
    return value === undefined ? { code: 'parquet_invalid' } : convert(value);
  };
}

function converter(element: SchemaElement): ToCell | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (type === 'DOUBLE') return (value) => doubleDecimal(value as number) ?? inexact;
  if (type === 'FLOAT') return (value) => floatDecimal(value as number) ?? inexact;
  if (type === 'INT96') return (value) => instant(value as bigint, 1_000_000_000n, true);
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return decimals(element);
  if (type === 'INT32' || type === 'INT64') return wholeNumbers(element);
  if (type === 'FIXED_LEN_BYTE_ARRAY') {
    return logical?.type === 'UUID' ? (value) => uuid(value as Uint8Array) : () => notText;
  }
  const isText = converted !== 'BSON' && logical?.type !== 'BSON';
  return type === 'BYTE_ARRAY' && isText ? (value) => text(value as Uint8Array) : () => notText;
}

function decimals({ type, scale: own = 0, logical_type: logical }: SchemaElement): ToCell | null {
  const scale = logical?.type === 'DECIMAL' ? logical.scale : own;
  if (!(Number.isInteger(scale) && scale >= 0 && scale <= limits.valueDigitsMax)) return null;
  if (type === 'INT32' || type === 'INT64') {
    return (value) => scaledDecimal(BigInt(value as number | bigint), scale);
  }
  return (value) => {
    const bytes = value as Uint8Array;
    if (bytes.length === 0 || bytes.length > decimalBytesMax) return notText;
    const unsigned = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
    return scaledDecimal(BigInt.asIntN(8 * bytes.length, unsigned), scale);
  };
}

function wholeNumbers(element: SchemaElement): ToCell {
  const { type, converted_type: converted = '', logical_type: logical } = element;
  const long = (value: unknown) => BigInt(value as number | bigint);
  if (converted === 'DATE' || logical?.type === 'DATE') return (value) => date(Number(value));
  if (logical?.type === 'TIMESTAMP') {
    const ticks = { MILLIS: 1_000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n }[logical.unit];
    return (value) => instant(long(value), ticks, logical.isAdjustedToUTC);
  }
  if (converted === 'TIMESTAMP_MILLIS') return (value) => instant(long(value), 1_000n, true);
  if (converted === 'TIMESTAMP_MICROS') return (value) => instant(long(value), 1_000_000n, true);
  if (converted.startsWith('TIME_') || logical?.type === 'TIME') return () => notText;
  const unsigned =
    converted.startsWith('UINT_') || (logical?.type === 'INTEGER' && !logical.isSigned);
  if (!unsigned) return (value) => String(value);
  return (value) => String(BigInt.asUintN(type === 'INT32' ? 32 : 64, long(value)));
}

/** What is no day of the years 0000–9999 stays a number, which is no period. */
function date(day: number): string {
  return day >= dayMin && day <= dayMax ? dayToText(day) : String(day);
}

/** @param perSecond what the ticks are; without `utc` they are the company's time */
function instant(ticks: bigint, perSecond: bigint, utc: boolean): string {
  const perDay = perSecond * 86_400n;
  const rest = BigInt.asIntN(64, ticks) % perDay;
  const inDay = rest < 0n ? rest + perDay : rest;
  const day = Number((ticks - inDay) / perDay);
  if (day < dayMin || day > dayMax) return String(ticks);
  const seconds = Number(inDay / perSecond);
  const clock = new Date(seconds * 1000).toISOString().slice(11, 19);
  const places = String(perSecond).length - 1;
  const fraction = String(inDay % perSecond)
    .padStart(places, '0')
    .replace(/0+$/, '');
  return `${dayToText(day)}T${clock}${fraction === '' ? '' : `.${fraction}`}${utc ? 'Z' : ''}`;
}

function uuid(bytes: Uint8Array): Cell {
  if (bytes.length !== 16) return notText;
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function text(bytes: Uint8Array): Cell | CellProblem {
  if (bytes.length > limits.cellCharsMax) return { code: 'cell_too_long' };
  if (!isUtf8(bytes)) return { code: 'invalid_utf8' };
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
