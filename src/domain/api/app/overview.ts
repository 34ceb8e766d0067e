import { z } from 'zod';
import { countedMax } from '../../counted.ts';
import { endpoint } from './endpoint.ts';

const instant = z.iso.datetime().describe('RFC 3339, UTC.');

const check = z
  .object({
    at: instant.describe('When it ended.'),
    seconds: z.number(),
    differences: z.int().describe("Of the company's sources, or of none."),
    swapped: z.boolean().describe('Of a rebuild: its samples are the ones in use.'),
  })
  .nullable()
  .describe('Null: it never ran.');

export const readOverview = endpoint({
  method: 'GET',
  path: '/app/api/overview',
  summary: 'Shows how the deliveries of the company go, and whether the service is well.',
  needs: 'sources.read',
  query: z.strictObject({ sandbox: z.literal('true').optional().describe('Sandbox too.') }),
  answer: z.object({
    at: instant,
    sandbox: z.boolean(),
    sources: z.int(),
    minutes: z
      .array(z.object({ deliveries: z.int(), bytes: z.int() }))
      .describe('Received in each of the last minutes, newest first.'),
    parse_lag: z
      .object({ deliveries: z.int(), median_ms: z.int(), p95_ms: z.int() })
      .nullable()
      .describe('From receipt to readable, of what was received in these minutes; null: nothing.'),
    backlog: z.object({
      deliveries: z.int().describe(`Waiting or being parsed; ${countedMax.backlog}: or more.`),
      oldest_received_at: instant.nullable(),
    }),
    rejected: z
      .object({ records: z.int(), deliveries: z.int() })
      .describe('Of what was received in the last 24 hours.'),
    health: z.object({
      status: z.enum(['ready', 'degraded', 'away']),
      parts: z.record(z.string(), z.string()).describe('`ok`, or what is wrong.'),
    }),
    scrub: z.object({
      round_began_at: instant.nullable().describe('Null: none has begun.'),
      round_over: z.boolean(),
      damaged: z.int(),
      newest: z.array(
        z.object({
          artifact_id: z.uuid(),
          source_id: z.uuid(),
          damage: z.enum(['missing', 'changed', 'unreadable']),
          checked_at: instant,
        }),
      ),
    }),
    verify: check,
    rebuild: check,
  }),
});
