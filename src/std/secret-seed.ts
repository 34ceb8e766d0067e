import { randomBytes } from 'node:crypto';

/**
 * An odd number of 32 bits that nobody else knows, another one each time. A hash of what callers
 * send starts from one: they could else send a million texts that all fall into one slot.
 */
export function secretSeed(): number {
  return randomBytes(4).readInt32LE() | 1;
}
