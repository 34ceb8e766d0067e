import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { field } from '../domain/api/app/sources.ts';
import type { Field } from '../domain/nouns.ts';
import { WrongUsage } from './command.ts';

const shapeSchema = z.strictObject({ fields: z.array(field).min(1) });

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
  if (parsed.success) return parsed.data.fields;
  const [issue] = parsed.error.issues;
  throw new WrongUsage(`${path}: ${issue!.path.join('.') || 'shape'}: ${issue!.message}`);
}
