import { z } from 'zod';
import { limits } from '../limits.ts';
import { shapeVersion } from './values.ts';

/** The body of a JSON push (specification, "Delivery"). */

const charsMax = limits.idempotencyKeyCharsMax;

/** 1 to 200 code points; neither U+0000 nor half a surrogate pair (DECISIONS 5). */
const idempotencyKey = z
  .string({
    error: ({ input }) =>
      `The idempotency key ${input === undefined ? 'is missing' : 'must be text'}.`,
  })
  .min(1, 'The idempotency key must not be empty.')
  .refine((key) => codePointsAtMost(key, charsMax), {
    error: `The idempotency key must have at most ${charsMax} characters.`,
  })
  .refine((key) => !key.includes('\0'), {
    error: 'The idempotency key must not hold the character U+0000.',
  })
  .refine((key) => key.isWellFormed(), {
    error: 'The idempotency key must not hold a lone surrogate.',
  })
  .meta({
    maxLength: charsMax,
    pattern: '^[^\\u0000]*$',
    description: "The caller's name for the delivery, compared exactly.",
    examples: ['billing-2026-01'],
  });

/**
 * Text under every name. Checked by one loop: `z.record` copies name by name, which takes 450 ms
 * for the 100,000 fields that a body can hold, and it passes over `__proto__`.
 */
const payload = z
  .any()
  .superRefine((value: unknown, context) => {
    const wrong = (message: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', message, path });
    if (value === undefined) return wrong('The payload is missing.');
    if (!isObject(value)) return wrong('The payload must be an object.');
    for (const name of Object.keys(value)) {
      if (typeof value[name] !== 'string') {
        return wrong('Every value of the payload must be text.', [name]);
      }
    }
  })
  .meta({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      "The record: text for the source's declared fields, with each required one present. An " +
      'amount is an exact decimal. Fields that are not declared are kept, but not read.',
    examples: [{ month: '2026-01', mrr: '10.50', plan: 'pro' }],
  });

/** Its fields are read one by one, in this order: the first problem is the answer. */
export const delivery = z
  .object({
    idempotency_key: idempotencyKey,
    shape_version: shapeVersion.meta({
      description: "The version of the source's shape that the payload is written against.",
      examples: [1],
    }),
    payload,
  })
  .meta({ description: 'One push.' });

/** Whether a parsed JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function codePointsAtMost(text: string, most: number): boolean {
  if (text.length <= most) return true;
  let codePoints = 0;
  for (const _ of text) codePoints += 1;
  return codePoints <= most;
}
