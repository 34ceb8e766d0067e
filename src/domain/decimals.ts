import { limits } from './limits.ts';

const decimal = /^-?[0-9]+(?:\.[0-9]+)?$/;

/**
 * Judges a value's text (DECISIONS 2): digits, one point with digits after it, a minus; no
 * exponent, no separators, no spaces; at most 76 digits, leading and trailing noughts counted.
 * The text is kept exactly as it came, so there is nothing to return but the problem.
 */
export function decimalProblem(text: string): 'value_not_decimal' | 'value_too_long' | null {
  if (!decimal.test(text)) return 'value_not_decimal';
  // Sign and point are two more characters at most: shorter text needs no counting.
  if (text.length <= limits.valueDigitsMax) return null;
  const minus = text.startsWith('-') ? 1 : 0;
  const point = text.includes('.') ? 1 : 0;
  return text.length - minus - point > limits.valueDigitsMax ? 'value_too_long' : null;
}

const minus = 0x2d;
const point = 0x2e;

/** Whether `bytes[from..to)` is a value's text without a problem, as `decimalProblem` judges. */
export function isDecimal(bytes: Uint8Array, from: number, to: number): boolean {
  let at = bytes[from] === minus ? from + 1 : from;
  const first = at;
  let pointAt = -1;
  for (; at < to; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x30 && byte <= 0x39) continue;
    if (byte !== point || pointAt >= 0 || at === first) return false;
    pointAt = at;
  }
  if (first >= to || pointAt === to - 1) return false;
  return to - first - (pointAt < 0 ? 0 : 1) <= limits.valueDigitsMax;
}

/**
 * Adds two decimals exactly. The sum has as many digits after the point as the longer of the
 * two; nought has no sign. Both must be well formed (`decimalProblem`).
 */
export function addDecimals(a: string, b: string): string {
  return sumDecimals([a, b]);
}

/** Adds decimals exactly, as `addDecimals` does; the sum of none is `0`. */
export function sumDecimals(texts: Iterable<string>): string {
  let total = 0n;
  let scale = 0;
  for (const text of texts) {
    const point = text.indexOf('.');
    const own = point < 0 ? 0 : text.length - point - 1;
    let units = BigInt(point < 0 ? text : text.slice(0, point) + text.slice(point + 1));
    if (own > scale) {
      total *= 10n ** BigInt(own - scale);
      scale = own;
    } else if (own < scale) {
      units *= 10n ** BigInt(scale - own);
    }
    total += units;
  }
  return decimalText(total, scale);
}

function decimalText(units: bigint, scale: number): string {
  const minus = units < 0n ? '-' : '';
  const text = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  if (scale === 0) return minus + text;
  return `${minus}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}
