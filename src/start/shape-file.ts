import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Field } from '../domain/nouns.ts';
import { WrongUsage } from './command.ts';

/** A field as shape files have it (DECISIONS 1). What the roles mean together is judged later. */
export const fieldSchema = z.strictObject({
  name: z.string().min(1),
  role: z.enum(['period', 'value', 'metric', 'label']).optional(),
  grain: z.enum(['day', 'week', 'month', 'quarter', 'year']).optional(),
  metric: z.string().optional(),
  label: z.string().min(1).optional(),
  personal: z.boolean().optional(),
  required: z.boolean().optional(),
});

const shapeSchema = z.strictObject({ fields: z.array(fieldSchema).min(1) });

/**
 * Reads a shape file, `{"fields": […]}`.
 *
 * @throws WrongUsage naming what is wrong and where
 */
export function readShapeFile(path: string): readonly Field[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new WrongUsage(`the shape file ${path} cannot be read as JSON`, { cause });
  }
  const parsed = shapeSchema.safeParse(value);
  if (parsed.success) return parsed.data.fields as Field[];
  const [issue] = parsed.error.issues;
  throw new WrongUsage(`${path}: ${issue!.path.join('.') || 'shape'}: ${issue!.message}`);
}
