import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const instant = z.iso.datetime().describe('RFC 3339, UTC.');
const way = z.enum(['push', 'document', 'webhook']);
const format = z.enum(['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet']);

/** A declared field of a shape (DECISIONS 1). */
export const field = z.strictObject({
  name: z.string(),
  role: z.enum(['period', 'value', 'metric', 'label']).optional(),
  grain: z.enum(['day', 'week', 'month', 'quarter', 'year']).optional(),
  metric: z.string().optional(),
  label: z.string().optional(),
  personal: z.boolean().optional(),
  required: z.boolean().optional(),
});

export const source = z.object({
  source_id: z.uuid(),
  name: z.string(),
  delivery: way,
  format,
  shape_version: z.number().int(),
  created_at: instant,
  fields: z.array(field).describe('Of the current version.'),
});

export const readSource = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}',
  summary: 'Shows a source with its current shape.',
  needs: 'sources.read',
  answer: source,
});
