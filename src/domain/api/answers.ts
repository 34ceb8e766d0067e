import { z } from 'zod';
import { limits } from '../limits.ts';
import { count, day, shapeVersion, uuid } from './values.ts';

/** What the API answers with. The answers are written by hand; tests hold them to these. */

const artifactId = uuid.meta({
  description: 'Identifies what was stored; cited when asking why a number is what it is.',
  examples: ['019b76da-a800-7000-8000-0123456789ab'],
});

const sourceId = uuid.meta({
  description: 'The source that the key belongs to.',
  examples: ['4f6c1f1e-2f60-4a53-9f2c-0c7a1d0f3b11'],
});

const sandbox = z.boolean().describe('True when it came on a sandbox key.');

export const receipt = z
  .object({
    artifact_id: artifactId,
    shape_version: shapeVersion.describe('The version it will be parsed under.'),
    status: z.literal('queued'),
    sandbox: sandbox.optional(),
  })
  .meta({ description: 'What was stored. The same for ever: a repeated delivery gets it again.' });

export const sample = z
  .object({
    metric: z.string().describe("The metric's key."),
    period_start: day().describe("First day of the period, in the company's timezone."),
    value: z
      .string()
      .regex(/^-?[0-9]+(\.[0-9]+)?$/)
      .meta({ description: 'Exact decimal, kept as it was sent.', examples: ['10.50'] }),
    labels: z.record(z.string(), z.string()).meta({
      description: 'The label set that the metric declares.',
      examples: [{ plan: 'pro' }],
    }),
    sandbox,
    artifact_id: artifactId.optional().describe('The delivery that it was parsed from.'),
  })
  .meta({ description: 'One number of one period.' });

export const readWindow = z
  .object({
    from: day().describe('First day read.'),
    to: day().describe('The day after the last day read.'),
    max_days: count.describe('The widest window that a read answers for.'),
    narrowed: z
      .boolean()
      .describe('True when the requested `from` was further back and was moved forward.'),
  })
  .meta({ description: 'The days that a read answered for.' });

export const samples = z
  .object({
    source_id: sourceId,
    window: readWindow,
    samples: z.array(sample).max(limits.samplesPerAnswerMax).describe('Newest first.'),
    truncated: z
      .boolean()
      .describe('True when the window held more samples than one answer holds.'),
  })
  .meta({ description: "A window of a source's samples." });

const rejection = z
  .object({
    record: z.int().min(1).nullable().describe('From 1; null: the delivery as a whole.'),
    line: z.int().min(1).nullable().describe('From 1; null where the format has no lines.'),
    field: z.string().nullable(),
    code: z.string().describe('Short machine-readable reason.'),
    message: z.string().describe('One plain sentence; never quotes a cell.'),
  })
  .meta({ description: 'Why a record, or a delivery as a whole, was rejected.' });

const counts = z
  .object({
    records: count.describe('parsed + rejected'),
    parsed: count,
    rejected: count,
    samples: count,
    blank: count.describe('Values that were blank: they give no sample.'),
    superseded_within: count.describe('Samples that a later record of the delivery replaced.'),
  })
  .meta({ description: 'What parsing made of the delivery; all 0 until then.' });

export const deliveryView = z
  .object({
    artifact_id: artifactId,
    source_id: sourceId,
    status: z.enum(['queued', 'parsing', 'parsed', 'rejected']),
    sandbox,
    shape_version: shapeVersion.describe('The version it is parsed under.'),
    received_at: z.iso.datetime({ precision: 3 }).meta({
      description: 'RFC 3339, UTC.',
      examples: ['2026-01-31T12:00:00.000Z'],
    }),
    bytes: count.max(limits.deliveryBytesMax).describe('Of the body as received.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('Of the body as received.'),
    counts,
    rejections: z.array(rejection).max(limits.rejectionsShownMax).describe('The first 100.'),
    undeclared_fields: z
      .array(z.string())
      .describe('Names that the body held and the shape does not declare.'),
  })
  .meta({ description: 'What became of a delivery.' });

export const error = z
  .object({
    code: z.string().describe('Short machine-readable reason; see the table of errors.'),
    message: z.string().describe('One plain sentence; for logging or display, not for parsing.'),
    field: z.string().optional().describe('The field that the error is about, when about one.'),
  })
  .meta({ description: 'Why a request was refused. Branch on status and `code`.' });

/** Name in the document → schema. */
export const namedAnswers = {
  Receipt: receipt,
  Sample: sample,
  Window: readWindow,
  Samples: samples,
  Rejection: rejection,
  Counts: counts,
  DeliveryView: deliveryView,
  Error: error,
};
