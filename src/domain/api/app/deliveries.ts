import { z } from 'zod';
import { countedMax } from '../../counted.ts';
import { endpoint } from './endpoint.ts';

const instant = z.iso.datetime().describe('RFC 3339, UTC.');
const status = z.enum(['queued', 'parsing', 'parsed', 'rejected']);
const damage = z.enum(['missing', 'changed', 'unreadable']);
const version = z.int().min(1);
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const whole = (max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'A whole number.')
    .transform(Number)
    .refine((n) => n <= max, { error: `At most ${max}.` });

/** Names that the beginning of an idempotency key finds at most. */
export const namesFoundMax = 500;
/** Deliveries on a page, rejections on a page, names and conflicts of one delivery. */
export const deliveriesPageMax = 200;
export const rejectionsPageMax = 50;

const counts = z
  .object({
    records: z.int(),
    parsed: z.int(),
    rejected: z.int(),
    samples: z.int(),
    blank: z.int(),
    superseded_within: z.int(),
  })
  .describe('records = parsed + rejected; values of parsed ones = samples + blank + superseded.');

const rejection = z.object({
  record: z.int().nullable().describe('From 1; null: the delivery as a whole.'),
  line: z.int().nullable().describe('From 1; null where the format has no lines.'),
  field: z.string().nullable(),
  code: z.string(),
  message: z.string(),
});

const countedBeside = z.int().describe(`${countedMax.beside}: or more.`);

export const listedDelivery = z.object({
  artifact_id: z.uuid(),
  status,
  received_at: instant,
  bytes: z.int(),
  sandbox: z.boolean(),
  shape_version: version,
  counts: counts.nullable().describe('Null until it is parsed for the first time.'),
  refusal: z.string().nullable().describe('The code, where it was rejected as a whole.'),
  idempotency_key: z.string().describe('The first one.'),
  conflicts: z
    .int()
    .describe(`How often a known key came with other bytes; ${countedMax.conflicts}: or more.`),
  damage: damage.nullable(),
});

export const listDeliveries = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/deliveries',
  summary: 'Lists deliveries of a source, received last first.',
  needs: 'sources.read',
  query: z.strictObject({
    status: status.optional(),
    received_from: time.optional(),
    received_before: time.optional(),
    key: z
      .string()
      .min(1)
      .max(200)
      .refine((text) => !text.includes('\0'), 'This must be well-formed text.')
      .optional()
      .describe('An idempotency key, or its beginning.'),
    whole_key: flag.optional().describe('`true`: the key is whole.'),
    sandbox: flag.optional(),
    conflicting: z.literal('true').optional().describe('Their key came with other bytes.'),
    rejecting: z.literal('true').optional().describe('Records of them were rejected.'),
    before: z
      .string()
      .regex(/^[0-9]{1,16}-[0-9]{1,16}$/, 'As `next` of another page has it.')
      .optional(),
    limit: whole(deliveriesPageMax).optional().describe('50 unless told.'),
  }),
  answer: z.object({
    deliveries: z.array(listedDelivery),
    next: z.string().nullable().describe('`before` of the next page; null: this is the last.'),
    counts: z
      .record(status, z.int())
      .describe(`By status, of the same time and sandbox; ${countedMax.status}: or more.`),
    keys_cut: z.boolean().describe(`More than ${namesFoundMax} keys begin so: some are not found.`),
  }),
});

export const readDelivery = endpoint({
  method: 'GET',
  path: '/app/api/deliveries/{artifact_id}',
  summary: 'Shows all that is known of a delivery.',
  needs: 'sources.read',
  answer: listedDelivery.omit({ conflicts: true, refusal: true }).extend({
    source_id: z.uuid(),
    receipt_shape_version: version.describe('As the receipt says.'),
    sequence: z.int().describe('Its place in the accepted order.'),
    sha256: z.string(),
    delivery: z.enum(['push', 'document', 'webhook']),
    media_type: z.string(),
    encoding: z.enum(['identity', 'gzip', 'zstd']),
    generation: z.int(),
    parser_version: z.int().nullable(),
    settled_at: instant.nullable(),
    waits_for: z
      .object({ generation: z.int(), shape_version: version })
      .nullable()
      .describe('It is to be parsed again; what stands stays until then.'),
    refusal: rejection.nullable(),
    undeclared_fields: z.array(z.string()),
    secret_id: z.uuid().nullable().describe('Of a webhook: the secret that verified it.'),
    checked_at: instant.nullable().describe('When its stored bytes were last looked at.'),
    keys: z.object({
      count: countedBeside,
      first: z.array(z.object({ key: z.string(), named_at: instant })),
    }),
    conflicts: z.object({
      count: countedBeside,
      newest: z.array(z.object({ key: z.string(), sha256: z.string(), at: instant })),
    }),
    reparse_version: version.describe('Under which it would be parsed again unless told.'),
  }),
});

export const listRejections = endpoint({
  method: 'GET',
  path: '/app/api/deliveries/{artifact_id}/rejections',
  summary: 'Lists why records of a delivery were rejected, by record.',
  needs: 'sources.read',
  query: z.strictObject({
    offset: whole(100_000_000).optional(),
    limit: whole(rejectionsPageMax).optional(),
  }),
  answer: z.object({
    rejections: z.array(rejection),
    next_offset: z.int().nullable(),
    generation: z.int(),
  }),
});

const field = z.object({
  name: z.string(),
  text: z.string().nullable().describe('Null: no text, or masked.'),
  masked: z.boolean().describe('Personal, or undeclared: its text is not shown.'),
});

export const readRecordTexts = endpoint({
  method: 'GET',
  path: '/app/api/deliveries/{artifact_id}/records',
  summary: 'Reads records of a delivery again, from its stored bytes; personal fields are masked.',
  needs: 'sources.read',
  query: z.strictObject({
    records: z
      .string()
      .regex(/^[1-9][0-9]{0,8}(,[1-9][0-9]{0,8})*$/, 'Numbers from 1, by comma.')
      .transform((text) => text.split(',').map(Number))
      .refine((records) => records.length <= rejectionsPageMax, {
        error: `At most ${rejectionsPageMax} records.`,
      }),
  }),
  answer: z.object({
    records: z.array(
      z.object({
        record: z.int(),
        line: z.int().nullable(),
        fields: z.array(field).nullable().describe('Null: there is no such record.'),
        cut: z.boolean().describe('More was there than is shown.'),
      }),
    ),
  }),
});

export const downloadBody = endpoint({
  method: 'GET',
  path: '/app/api/deliveries/{artifact_id}/body',
  summary: 'Gives the stored bytes of a delivery, as they were received; not damaged ones.',
  needs: 'sources.manage',
  audited: 'delivery download',
});

const again = z.strictObject({
  shape_version: version.optional().describe('Unless told, `reparse_version` of the delivery.'),
});

export const tryReparse = endpoint({
  method: 'POST',
  path: '/app/api/deliveries/{artifact_id}/dry-run',
  summary: 'Tells what parsing a delivery again would change. Nothing is written.',
  needs: 'sources.manage',
  audited: 'delivery dry-run',
  body: again,
  answer: z.object({
    shape_version: version,
    records: z.int(),
    parsed: z.int(),
    rejected: z.int(),
    newly_rejected: z.int().describe('Records that would be rejected and are not now.'),
    samples: z.object({
      added: z.int(),
      changed: z.int(),
      gone: z.int().describe('It gives them now and would not.'),
    }),
    refusal: rejection.nullable(),
    rejections: z.array(rejection).describe('The first of those that there would be.'),
  }),
});

export const reparse = endpoint({
  method: 'POST',
  path: '/app/api/deliveries/{artifact_id}/reparse',
  summary: 'Has a delivery parsed again. What stands stays until that is complete.',
  needs: 'sources.manage',
  audited: 'delivery reparse',
  body: again,
  answer: z.object({ generation: z.int(), shape_version: version }),
});

export const reparseRejected = endpoint({
  method: 'POST',
  path: '/app/api/sources/{source_id}/reparse-rejected',
  summary: 'Has all rejected deliveries of a source parsed again.',
  needs: 'sources.manage',
  audited: 'delivery reparse rejected',
  body: z.strictObject({
    shape_version: version.optional().describe('Unless told, the current one.'),
  }),
  answer: z.object({ deliveries: z.int(), shape_version: version }),
});
