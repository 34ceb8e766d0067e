import { z } from 'zod';
import { countText, truth } from './values.ts';

/** The headers of answers, by their names; tests hold the answers to these. */
export const answerHeaders = {
  'RateLimit-Limit': countText.meta({ description: 'Requests a minute.', examples: [60] }),
  'RateLimit-Remaining': countText.meta({ description: 'Requests left now.', examples: [19] }),
  'RateLimit-Reset': countText.meta({
    description: 'Seconds until as many are left as ever.',
    examples: [1],
  }),
  'Retry-After': countText.meta({
    description: 'Seconds to wait: who waits them is not refused for the same reason.',
    examples: [1],
  }),
  'Idempotency-Replayed': truth().meta({
    description: 'The key, or the bytes, were known: this is the first receipt.',
  }),
  'Idempotency-Body-Differs': truth().meta({
    description: 'The key was known with other bytes: nothing of these was stored.',
  }),
  ETag: z
    .string()
    .regex(/^"[A-Za-z0-9_-]+"$/)
    .meta({ description: 'Of the whole encoded answer; strong.', examples: ['"q0mXh2P3"'] }),
  'Cache-Control': z.string().meta({ examples: ['private, no-cache'] }),
  Vary: z.string().meta({ examples: ['Authorization, Origin, Accept-Encoding'] }),
  'Content-Encoding': z.enum(['gzip']).meta({ description: 'Where `Accept-Encoding` takes it.' }),
  'WWW-Authenticate': z.enum(['Bearer']),
} as const;

export type AnswerHeader = keyof typeof answerHeaders;
