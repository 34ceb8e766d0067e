import { z } from 'zod';
import { limits } from '../../limits.ts';
import { day } from '../values.ts';
import { endpoint } from './endpoint.ts';

const instant = z.iso.datetime().describe('RFC 3339, UTC.');
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const date = z.iso.date();
const decimal = z.string().describe('Exactly as it came.');
const labels = z.record(z.string(), z.string());
const metricKey = z.string().min(1).max(limits.metricKeyCharsMax);

/** Samples on a page of the table. */
export const samplesPageMax = 500;
/** Lines of a chart, and points of each. */
export const seriesMax = 10;
export const pointsMax = 800;
/** Label sets that choices are made of, and values of one label. */
export const labelSetsMax = 5_000;
export const labelValuesMax = 200;
/** Of a record that is shown: its fields, and characters of each. */
export const recordShownMax = { fields: 300, chars: 2_000 } as const;

const labelsText = z
  .string()
  .transform((text, at) => {
    const { success, data } = labels.safeParse(jsonOf(text));
    if (success) return data;
    at.addIssue({ code: 'custom', message: 'A JSON object of texts by label name.' });
    return z.NEVER;
  })
  .describe('A JSON object: labels that the samples have.');

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const sandboxFlag = flag.describe('`true`: with sandbox samples. Left out unless told.');

const filter = {
  metric: metricKey.optional().describe('Unset: all of them.'),
  from: day('from').optional().describe('First day, inclusive.'),
  to: day('to').optional().describe('The day after the last.'),
  labels: labelsText.optional(),
  sandbox: sandboxFlag.optional(),
};

export const readFacets = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/sample-facets',
  summary: 'Says what there is to choose from: metrics with samples, and the labels of one.',
  needs: 'sources.read',
  query: z.strictObject({ metric: metricKey.optional().describe('Unset: the first one.') }),
  answer: z.object({
    metrics: z.array(
      z.object({
        key: z.string(),
        name: z.string(),
        unit: z.string(),
        has_sandbox: z.boolean(),
        first_day: date,
        last_day: date,
      }),
    ),
    metric: z.string().nullable().describe('The one whose labels follow; null: there is none.'),
    labels: z.array(
      z.object({
        name: z.string(),
        values: z.array(z.string()),
        cut: z.boolean().describe('There are more values.'),
      }),
    ),
  }),
});

const place = {
  metric: z.string(),
  period_start: date,
  labels,
  sandbox: z.boolean(),
};

export const listSamples = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/samples',
  summary: 'Lists current samples, newest first, in the order of the API.',
  needs: 'sources.read',
  query: z.strictObject({
    ...filter,
    after: z.string().optional().describe('`next` of the page before.'),
    limit: z
      .string()
      .regex(/^[1-9][0-9]{0,2}$/, 'A whole number.')
      .transform(Number)
      .refine((n) => n <= samplesPageMax, { error: `At most ${samplesPageMax}.` })
      .optional()
      .describe('100 unless told.'),
  }),
  answer: z.object({
    samples: z.array(z.object({ ...place, value: decimal, artifact_id: z.uuid() })),
    next: z.string().nullable().describe('`after` of the next page; null: this is the last.'),
  }),
});

const drawn = z.array(z.number());

export const readSeries = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/series',
  summary: 'Gives what a chart of one metric draws, over any window.',
  needs: 'sources.read',
  query: z.strictObject({ ...filter, metric: metricKey }),
  answer: z.object({
    bucket_days: z.int().describe(`Days that are one point, so that there are ${pointsMax}.`),
    series: z.array(
      z.object({
        labels,
        sandbox: z.boolean(),
        points: z
          .object({
            first_day: z.array(date),
            last_day: z.array(date),
            min: drawn,
            max: drawn,
            last: drawn,
            samples: z.array(z.int()),
          })
          .describe('Columns, oldest first. Values are numbers to be drawn, not exact decimals.'),
      }),
    ),
    total: z.int().describe(`Label sets that there are; at most ${seriesMax} are given.`),
  }),
});

export const exportSamples = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/samples.csv',
  summary: 'Gives all samples of a filter as CSV, streamed; cells begin no formula.',
  needs: 'sources.read',
  query: z.strictObject(filter),
  refuses: ['conflict'],
});

export const readTrace = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/trace',
  summary: 'Leads a sample back to the record and the bytes that gave it.',
  needs: 'sources.read',
  query: z.strictObject({
    metric: metricKey,
    period: day('period'),
    labels: labelsText.optional(),
    sandbox: flag.optional().describe('`true`: the sandbox sample.'),
  }),
  answer: z.object({
    sample: z.object({ ...place, value: decimal, unit: z.string() }),
    delivery: z.object({
      artifact_id: z.uuid(),
      received_at: instant,
      sha256: z.string(),
      bytes: z.int(),
      delivery: z.enum(['push', 'document', 'webhook']),
      media_type: z.string(),
      encoding: z.enum(['identity', 'gzip', 'zstd']),
      idempotency_keys: z.array(z.string()),
      shape_version: z.int(),
      generation: z.int(),
      parser_version: z.int().nullable(),
      status: z.enum(['queued', 'parsing', 'parsed', 'rejected']),
    }),
    record: z.int().describe('From 1.'),
    line: z.int().nullable(),
    byte_range: z
      .object({ from: z.int(), to: z.int() })
      .nullable()
      .describe('In the body, its content encoding undone; `to` is exclusive.'),
    fields: z.array(
      z.object({
        name: z.string(),
        text: z.string().nullable().describe('Null: masked, or no text.'),
        masked: z.boolean().describe('Personal, or not in the shape.'),
        gave: z
          .enum(['period', 'value', 'metric', 'label'])
          .nullable()
          .describe('What of the sample it gave; null: nothing.'),
      }),
    ),
    fields_cut: z.boolean().describe('The record has more than is shown.'),
    superseded: z
      .array(
        z.object({
          value: decimal,
          artifact_id: z.uuid(),
          received_at: instant,
          record: z.int(),
        }),
      )
      .describe('What the sample was before, latest accepted first.'),
  }),
  refuses: ['conflict'],
});
