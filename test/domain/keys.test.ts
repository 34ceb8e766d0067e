import { describe, expect, test } from 'vitest';
import { idempotencyHeaderProblem } from '../../src/domain/idempotency.ts';
import { formatKey, keyIsLive, keyOfHeader, keyRandomBytes } from '../../src/domain/keys.ts';

describe('an access key (DECISIONS 1)', () => {
  test('shows its kind and holds at least 160 random bits', () => {
    expect(keyRandomBytes * 8).toBeGreaterThanOrEqual(160);
    expect(formatKey('live', Buffer.alloc(keyRandomBytes, 1))).toMatch(/^wk_live_[\w-]{32}$/);
    expect(formatKey('test', Buffer.alloc(keyRandomBytes, 2))).toMatch(/^wk_test_/);
  });

  test('stops working at the very millisecond of its end', () => {
    expect(keyIsLive({ expiresAt: 1_000, revokedAt: null }, 999)).toBe(true);
    expect(keyIsLive({ expiresAt: 1_000, revokedAt: null }, 1_000)).toBe(false);
  });

  test('that is revoked stays so when the clock is set back', () => {
    expect(keyIsLive({ expiresAt: 1_000, revokedAt: 500 }, 500)).toBe(false);
    expect(keyIsLive({ expiresAt: 1_000, revokedAt: 500 }, 499)).toBe(false);
  });
});

describe('the Authorization header (RFC 6750, section 2.1)', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['Bearer  abc', 'abc'],
    ['Basic abc', null],
    ['Bearer', null],
    ['Bearer a b', null],
    ['Bearer a"b', null],
    ['', null],
    [undefined, null],
  ])('%j holds the key %j', (header, key) => {
    expect(keyOfHeader(header)).toBe(key);
  });
});

describe('an idempotency key in a header (DECISIONS 5)', () => {
  test.each(['a', '!', '~', 'x'.repeat(200), 'evt:1'])('%j is taken', (key) => {
    expect(idempotencyHeaderProblem(key)).toBeNull();
  });

  test.each([undefined, '', ' ', 'a b', 'ü', 'x'.repeat(201), 'a\tb'])('%j is refused', (key) => {
    expect(idempotencyHeaderProblem(key)).toMatch(/\.$/);
  });
});
