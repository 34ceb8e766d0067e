import { z } from 'zod';
import { limits } from '../../limits.ts';
import { endpoint } from './endpoint.ts';
import { nameText } from './text.ts';

const instant = z.iso.datetime().describe('RFC 3339, UTC.');
const count = z.number().int();
const way = z.enum(['push', 'document', 'webhook']).describe('How deliveries come.');
const format = z
  .enum(['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet'])
  .describe('Of the documents of a document source.');
const version = z.number().int().min(1);

/** A declared field of a shape (DECISIONS 1). What the roles mean together is judged later. */
export const field = z.strictObject({
  name: z.string().min(1),
  role: z.enum(['period', 'value', 'metric', 'label']).optional(),
  grain: z.enum(['day', 'week', 'month', 'quarter', 'year']).optional(),
  metric: z.string().optional(),
  label: z.string().min(1).optional(),
  personal: z.boolean().optional(),
  required: z.boolean().optional(),
});

const fields = z.array(field).min(1).max(limits.columnsMax);
const name = nameText(200).describe('What people call it.');

const shownFields = z.array(field).describe('In order.');

export const source = z.object({
  source_id: z.uuid(),
  name: z.string(),
  delivery: way,
  format,
  shape_version: version,
  created_at: instant,
  fields: shownFields.describe('Of the current version.'),
});

const rejected = z.object({
  records: count,
  deliveries: count.describe('Rejected as a whole, or without a single good record.'),
});

const summary = source.pick({ source_id: true, name: true, delivery: true }).extend({
  shape_version: version,
  created_at: instant,
  last_delivery: z
    .object({ received_at: instant, sandbox: z.boolean() })
    .nullable()
    .describe('The newest accepted.'),
  backlog: count.describe('Deliveries that wait or are being parsed.'),
  backlog_cut: z.boolean().describe('There may be more than `backlog`.'),
  rejected_24h: rejected.describe('Of deliveries received in the last 24 hours.'),
  rejected_sandbox_24h: rejected.describe('The same of sandbox deliveries.'),
});

export const listSources = endpoint({
  method: 'GET',
  path: '/app/api/sources',
  summary: "Lists the company's sources by name, with what came last and what waits.",
  needs: 'sources.read',
  answer: z.object({ sources: z.array(summary) }),
});

export const readSource = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}',
  summary: 'Shows a source with its current shape.',
  needs: 'sources.read',
  answer: source,
});

const savedSource = z.object({
  source_id: z.uuid(),
  shape_version: version,
  signing_secret: z
    .string()
    .optional()
    .describe('Of a source that has become a webhook source; shown this once.'),
});

export const createSource = endpoint({
  method: 'POST',
  path: '/app/api/sources',
  summary: 'Creates a source. A webhook source gets a secret and needs a fresh passkey check.',
  needs: 'sources.manage',
  audited: 'source create',
  body: z.strictObject({ name, delivery: way, format: format.optional(), fields }),
  answer: savedSource,
});

export const saveSource = endpoint({
  method: 'POST',
  path: '/app/api/sources/{source_id}',
  summary:
    'Saves the next version of a source; absent fields stay as they are. Becoming a webhook ' +
    'source needs a fresh passkey check.',
  needs: 'sources.manage',
  audited: 'source save',
  body: z.strictObject({
    based_on: version.describe('The version that was edited; refused when it is not current.'),
    name: name.optional(),
    delivery: way.optional(),
    format: format.optional(),
    fields: fields.optional(),
  }),
  answer: savedSource.extend({
    withdrawn: z
      .object({
        deliveries: count.describe('Whose samples are withdrawn: a field of them is personal now.'),
        waiting: count.describe('Of these, deliveries whose samples can still be read.'),
      })
      .nullable(),
  }),
});

const savedVersion = z.object({
  version,
  delivery: way,
  format,
  fields_declared: count,
  saved_at: instant,
  saved_by: z.string(),
});

export const listVersions = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/versions',
  summary: 'Lists the versions of a source, newest first, a hundred at a time.',
  needs: 'sources.read',
  query: z.strictObject({ before: z.coerce.number().int().min(1).optional() }),
  answer: z.object({
    versions: z.array(savedVersion),
    more: z.boolean().describe('There are older ones: ask with `before`.'),
  }),
});

export const readVersion = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/versions/{version}',
  summary: 'Shows one version of a source with its fields.',
  needs: 'sources.read',
  answer: savedVersion.extend({ fields: shownFields }),
});

/** Deliveries that one dry run may take. */
export const triedMax = 20;

const rejection = z.object({
  record: count.nullable(),
  line: count.nullable(),
  field: z.string().nullable(),
  code: z.string(),
  message: z.string(),
});

const tried = z.object({
  records: count,
  parsed: count,
  rejected: count,
  newly_rejected: count.describe('Records that are not rejected now.'),
  samples: z
    .object({ added: count, changed: count, gone: count })
    .describe('Compared with what the delivery gives now.'),
  refusal: rejection.nullable().describe('Why it would be rejected as a whole.'),
  rejections: z.array(rejection).describe('The first five.'),
});

export const tryShape = endpoint({
  method: 'POST',
  path: '/app/api/sources/{source_id}/dry-run',
  summary: 'Parses the newest deliveries under fields that are not saved; writes nothing.',
  needs: 'sources.manage',
  audited: 'source dry-run',
  body: z.strictObject({
    fields,
    format: format.optional(),
    deliveries: z.number().int().min(0).max(triedMax).describe('The newest so many.'),
  }),
  answer: z.object({
    withdraws: count.describe('Deliveries that a save of these fields would withdraw.'),
    deliveries: z.array(
      z.object({
        artifact_id: z.uuid(),
        idempotency_key: z.string(),
        received_at: instant,
        sandbox: z.boolean(),
        status: z.enum(['queued', 'parsing', 'parsed', 'rejected']),
        tried: tried.nullable(),
        left_out: z
          .enum(['too_large', 'no_time', 'unreadable', 'damaged', 'crashed'])
          .nullable()
          .describe('Why it was not tried.'),
      }),
    ),
  }),
});
