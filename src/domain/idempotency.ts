import { delivery } from './api/delivery.ts';
import { idempotencyKeyHeader } from './api/head.ts';
import { problemBy } from './api/read.ts';

/**
 * Judges an idempotency key out of a JSON body (DECISIONS 5).
 *
 * @returns what is wrong with it, as a sentence, or null
 */
export function idempotencyKeyProblem(key: unknown): string | null {
  return problemBy(delivery.shape.idempotency_key, key);
}

/** Judges an idempotency key out of a header: 1 to 200 of ASCII 0x21 to 0x7E. */
export function idempotencyHeaderProblem(key: string | undefined): string | null {
  return problemBy(idempotencyKeyHeader, key);
}
