import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDecimals, decimalProblem, sumDecimals } from '../../src/domain/decimals.ts';

describe('a value', () => {
  test.each([
    '0',
    '-0.00',
    '10.50',
    '0.1',
    '007',
    '-1',
    '9'.repeat(76),
    `-${'9'.repeat(40)}.${'9'.repeat(36)}`,
    `0.${'1'.repeat(75)}`,
  ])('%s is taken', (text) => expect(decimalProblem(text)).toBeNull());

  test.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '+1',
    '--1',
    '-',
    '.5',
    '5.',
    '1e5',
    '1E5',
    '1,000',
    '1_000',
    '0x10',
    'NaN',
    'Infinity',
    '１２',
    '1.2.3',
    '−1',
  ])('%j is no decimal', (text) => expect(decimalProblem(text)).toBe('value_not_decimal'));

  test.each(['1'.repeat(77), `-${'1'.repeat(77)}`, `1.${'0'.repeat(76)}`, '0'.repeat(5_000)])(
    'of more than 76 digits is too long: %s',
    (text) => expect(decimalProblem(text)).toBe('value_too_long'),
  );
});

describe('decimals are added exactly', () => {
  test.each([
    ['0.1', '0.2', '0.3'],
    ['10.50', '-0.5', '10.00'],
    ['-0.00', '0', '0.00'],
    ['-0.05', '-0.05', '-0.10'],
    ['0.001', '-1', '-0.999'],
    ['9'.repeat(76), '1', `1${'0'.repeat(76)}`],
  ])('%s and %s are %s', (a, b, sum) => expect(addDecimals(a, b)).toBe(sum));

  test('the sum of none is 0, the sum of one is itself without a sign before nought', () => {
    expect(sumDecimals([])).toBe('0');
    expect(sumDecimals(['-0.0'])).toBe('0.0');
    expect(sumDecimals(['007.10'])).toBe('7.10');
  });

  test('whatever their order, as whole numbers of the smallest unit', () => {
    const decimals = fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(12));
    fc.assert(
      fc.property(fc.array(decimals, { minLength: 1, maxLength: 20 }), (parts) => {
        const texts = parts.map(([units, scale]) => decimalOf(units, scale));
        const units = parts.reduce(
          (all, [own, scale]) => all + own * 10n ** BigInt(12 - scale),
          0n,
        );
        const sum = sumDecimals(texts);
        expect(sumDecimals(texts.toReversed())).toBe(sum);
        expect(unitsOf(sum, 12)).toBe(units);
      }),
    );
  });
});

function decimalOf(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale);
  return `${units < 0n ? '-' : ''}${whole}${scale > 0 ? `.${fraction}` : ''}`;
}

function unitsOf(text: string, scale: number): bigint {
  const [whole, fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}
