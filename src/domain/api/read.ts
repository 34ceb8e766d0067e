import type { z } from 'zod';

/** What a schema makes of a value, or what is wrong with the value first, as a sentence. */
export type Reading<T> = { readonly value: T } | { readonly problem: string };

/** Reads one value by the schema that the API's document shows (`domain/api`). */
export function readBy<T>(schema: z.ZodType<T>, value: unknown): Reading<T> {
  const read = schema.safeParse(value);
  return read.success ? { value: read.data } : { problem: read.error.issues[0]!.message };
}

/** @returns what is wrong with the value, as a sentence, or null */
export function problemBy(schema: z.ZodType, value: unknown): string | null {
  const reading = readBy(schema, value);
  return 'problem' in reading ? reading.problem : null;
}
