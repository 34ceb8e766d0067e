import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, retryAfterMs } from '../../src/client/waits.ts';

const failures = fc.integer({ min: 0, max: 5_000 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const hourMs = 3_600_000;

describe('the back-off (specification, "Webhook delivery contract (for senders)")', () => {
  test.each([
    [0, 30],
    [1, 60],
    [2, 120],
    [6, 1_920],
    [7, 3_600],
    [100, 3_600],
  ])(
    'after %i failures before it is at most %i s, and at least half of that',
    (before, seconds) => {
      expect(backoffMs(before, 1)).toBe(seconds * 1_000);
      expect(backoffMs(before, 0)).toBe((seconds * 1_000) / 2);
    },
  );

  test('is never over an hour and never under 15 s', () => {
    fc.assert(
      fc.property(failures, random, (before, luck) => {
        const wait = backoffMs(before, luck);
        expect(wait).toBeLessThanOrEqual(hourMs);
        expect(wait).toBeGreaterThanOrEqual(15_000);
        expect(Number.isInteger(wait)).toBe(true);
      }),
    );
  });

  test('grows with each failure until it reaches the hour, whatever the luck', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 }), random, random, (before, one, other) => {
        expect(backoffMs(before + 1, other)).toBeGreaterThanOrEqual(
          Math.min(backoffMs(before, one), hourMs / 2),
        );
      }),
    );
  });

  test('spreads senders that failed together over half of the wait', () => {
    const waits = new Set(Array.from({ length: 100 }, (_, i) => backoffMs(3, i / 100)));
    expect(waits.size).toBe(100);
  });
});

describe('Retry-After (RFC 9110, 10.2.3)', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  test.each([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
    ['Fri Nov 20 12:00:30 2026', 30_000],
    ['Fri Nov  6 12:00:30 2026', 0],
    ['Fri, 20 Nov 2026 11:59:00 GMT', 0],
  ])('%j is %i ms', (header, wait) => {
    expect(retryAfterMs(header, now)).toBe(wait);
  });

  test.each([
    undefined,
    '',
    '-1',
    '1.5',
    '1e3',
    'soon',
    '2026-11-20',
    'Fri, 99 Foo 2026 12:00:00 GMT',
  ])('%j says nothing', (header) => {
    expect(retryAfterMs(header, now)).toBeNull();
  });

  test('any second of a century written as a date is read back', () => {
    const at = fc.integer({ min: 0, max: 3_000_000_000 });
    fc.assert(
      fc.property(at, (seconds) => {
        const date = new Date(seconds * 1_000).toUTCString();
        expect(retryAfterMs(date, 0)).toBe(seconds * 1_000);
      }),
    );
  });
});
