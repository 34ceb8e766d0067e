import { limits } from './limits.ts';

const headerText = /^[\x21-\x7e]+$/;

/**
 * Judges an idempotency key out of a JSON body (DECISIONS 5).
 *
 * @returns what is wrong with it, as a sentence, or null
 */
export function idempotencyKeyProblem(key: unknown): string | null {
  if (key === undefined) return 'The idempotency key is missing.';
  if (typeof key !== 'string') return 'The idempotency key must be text.';
  if (key === '') return 'The idempotency key must not be empty.';
  if (lengthInCodePoints(key) > limits.idempotencyKeyCharsMax) {
    return `The idempotency key must have at most ${limits.idempotencyKeyCharsMax} characters.`;
  }
  if (key.includes('\0')) return 'The idempotency key must not hold the character U+0000.';
  if (!key.isWellFormed()) return 'The idempotency key must not hold a lone surrogate.';
  return null;
}

/** Judges an idempotency key out of a header: 1 to 200 of ASCII 0x21 to 0x7E. */
export function idempotencyHeaderProblem(key: string | undefined): string | null {
  if (key === undefined) return 'The header Idempotency-Key is missing.';
  if (key.length > limits.idempotencyKeyCharsMax) {
    return `The idempotency key must have at most ${limits.idempotencyKeyCharsMax} characters.`;
  }
  if (!headerText.test(key)) return 'The idempotency key must be visible ASCII without spaces.';
  return null;
}

function lengthInCodePoints(text: string): number {
  if (text.length <= limits.idempotencyKeyCharsMax) return 0;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
