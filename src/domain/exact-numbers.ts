import { dayOf } from './days.ts';
import { dayToText } from './periods.ts';

const number = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$/;
/** Every decimal of so many significant digits has a double of its own (IEEE 754). */
const doubleDigits = 15;
const floatDigits = 6;
/** More than any value may have: what is longer stays as it is, and is refused as a value. */
const exponentMax = 400;

/**
 * The decimal that a spreadsheet's number stands for, as text; null when there is none.
 *
 * Spreadsheets hold doubles and write them with up to 17 digits: 1.1 is stored as
 * `1.1000000000000001`. A text of at most 15 significant digits is taken as it is, its exponent
 * written out. A longer one is the print of a double: it is taken for the one decimal of at most
 * 15 digits that has the same double, which is what was typed. `0.30000000000000004`, the sum of
 * 0.1 and 0.2, has no such decimal, and neither has any number of more than 17 digits.
 *
 * @returns the text itself when it is no number
 */
export function sheetDecimal(text: string): string | null {
  const match = number.exec(text);
  if (match === null) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  if (Math.abs(Number(exponent)) > exponentMax) return null;
  const digits = significant(whole + fraction);
  if (digits.length <= doubleDigits) return shifted(sign, whole, fraction, Number(exponent));
  const double = Number(text);
  const isPrint =
    digits.length <= 17 && significant(mantissa(double.toPrecision(digits.length))) === digits;
  return isPrint ? doubleDecimal(double) : null;
}

/**
 * The decimal of at most 15 significant digits that has this double; null when there is none, and
 * for what is no finite number.
 */
export function doubleDecimal(double: number): string | null {
  const short = double.toPrecision(doubleDigits);
  return Number(short) === double ? plain(short) : null;
}

/** The same for a float of 32 bits, of which 6 digits are sure. */
export function floatDecimal(float: number): string | null {
  const short = float.toPrecision(floatDigits);
  return Math.fround(Number(short)) === float ? plain(short) : null;
}

/** A whole number of units and its decimal places, as text with just these places. */
export function scaledDecimal(units: bigint, scale: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Without exponent and without noughts at the end of the fraction. */
function plain(text: string): string | null {
  const match = number.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const written = shifted(sign, whole, fraction, Number(exponent));
  const short = written.includes('.') ? written.replace(/\.?0+$/, '') : written;
  return short === '-0' ? '0' : short;
}

/** Writes an exponent out: the point moves, no digit changes. */
function shifted(sign: string, whole: string, fraction: string, exponent: number): string {
  if (exponent === 0) return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
  const digits = whole + fraction;
  const point = whole.length + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  const before = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=[0-9])/, '');
  const after = digits.slice(point);
  return `${sign}${before}${after === '' ? '' : `.${after}`}`;
}

function significant(digits: string): string {
  return digits.replace(/^0+/, '').replace(/0+$/, '');
}

function mantissa(text: string): string {
  return text.replace(/e.*$/, '').replace(/[-.]/g, '');
}

/** Days of a spreadsheet's date system before 1970-01-01. */
const serialOf1970 = -dayOf(1899, 12, 30);
const days1904 = 1_462;
const serialMax = 2_958_466;

/**
 * The date, or date-time without offset, of a spreadsheet's serial number: days since 1900 (or
 * 1904), with the day 1900-02-29 that never was.
 *
 * @returns null when it is no date: not a number, negative, from the year 10000 on
 */
export function serialDate(text: string, since1904: boolean): string | null {
  if (!number.test(text)) return null;
  const serial = Number(text) + (since1904 ? days1904 : 0);
  if (!(serial >= 0 && serial < serialMax)) return null;
  let day = Math.floor(serial);
  // Programs write times of day with an error of up to a microsecond.
  let millis = Math.round((serial - day) * 86_400_000);
  if (millis === 86_400_000) {
    day++;
    millis = 0;
  }
  if (day === 60) return `1900-02-29${time(millis)}`;
  const since1970 = day - serialOf1970 + (day < 60 ? 1 : 0);
  return dayToText(since1970) + time(millis);
}

function time(millis: number): string {
  return millis === 0 ? '' : `T${new Date(millis).toISOString().slice(11, 23)}`;
}
