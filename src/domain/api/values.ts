import { z } from 'zod';
import { textToDay } from '../periods.ts';

/**
 * The values that requests and answers share. Every schema in this folder both validates and is
 * what the OpenAPI document is generated from; what JSON Schema cannot say of a check stands in
 * its `meta` beside it.
 */

/** Any version of a uuid, in either case of its letters. */
export const uuid = z.guid();

const versionProblem = 'The shape version must be an integer of at least 1.';

/** A version of a source's shape. */
export const shapeVersion = z
  .int({
    error: ({ input }) => (input === undefined ? 'The shape version is missing.' : versionProblem),
  })
  .min(1, versionProblem);

/** The same as the text of a header. */
export const shapeVersionText = z
  .string()
  .regex(/^[0-9]{1,16}$/, versionProblem)
  .transform(Number)
  .pipe(shapeVersion);

/** `YYYY-MM-DD` of the years 0001–9999. @param name stands in the sentence of what is none */
export function day(name = 'This'): z.ZodString {
  return z
    .string()
    .refine((text) => textToDay(text) !== null, `${name} must be a date, written YYYY-MM-DD.`)
    .meta({ format: 'date', examples: ['2026-01-31'] });
}

/** A number that is counted, not measured. */
export const count = z.int().min(0);

/** The same as the text of a header. */
export const countText = z
  .string()
  .regex(/^[0-9]{1,16}$/)
  .transform(Number)
  .pipe(count);

/** `true` or `false`, as the text of a header or a query. @param name stands in the sentence */
export function truth(name = 'This') {
  return z
    .enum(['true', 'false'], `The parameter ${name} must be true or false.`)
    .transform((text) => text === 'true')
    .pipe(z.boolean());
}
