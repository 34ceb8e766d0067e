import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatSecret,
  openSecret,
  sealNonceBytes,
  sealSecret,
  secretRandomBytes,
} from '../../src/domain/secrets.ts';

const key = randomBytes(32);
const seal = (id: string, text: string) => sealSecret(key, randomBytes(sealNonceBytes), id, text);

describe('signing secrets (DECISIONS 1)', () => {
  test('show their prefix and all of at least 256 random bits', () => {
    const random = randomBytes(secretRandomBytes);
    const text = formatSecret(random);
    expect(text).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(text.slice('whsec_'.length), 'base64url')).toEqual(random);
    expect(secretRandomBytes * 8).toBeGreaterThanOrEqual(256);
  });

  test('open as they were sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uuid(), (text, id) => {
        expect(openSecret(key, id, seal(id, text))).toBe(text);
      }),
    );
  });

  test('show nothing of themselves while sealed, and never look the same twice', () => {
    const id = randomUUID();
    const text = formatSecret(randomBytes(secretRandomBytes));
    const sealed = seal(id, text);
    expect(sealed.includes('whsec_')).toBe(false);
    expect(seal(id, text).equals(sealed)).toBe(false);
  });

  test('do not open with another key, under another id, or with any bit changed', () => {
    const id = randomUUID();
    const sealed = seal(id, 'whsec_x');
    expect(() => openSecret(randomBytes(32), id, sealed)).toThrow();
    expect(() => openSecret(key, randomUUID(), sealed)).toThrow();
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => openSecret(key, id, changed), `bit ${bit}`).toThrow();
    }
  });

  test('do not open when their end is missing', () => {
    const id = randomUUID();
    const sealed = seal(id, 'whsec_x');
    for (let length = 0; length < sealed.length; length++) {
      expect(() => openSecret(key, id, sealed.subarray(0, length)), `${length} bytes`).toThrow();
    }
  });
});
