import { z } from 'zod';
import { limits } from '../limits.ts';
import { day, shapeVersionText, truth, uuid } from './values.ts';

/** What requests carry in their heads: headers, query and path. */

const keyCharsMax = limits.idempotencyKeyCharsMax;
const idCharsMax = limits.deliveryIdCharsMax;

/** Of a document: 1 to 200 of ASCII 0x21 to 0x7E (DECISIONS 5). */
export const idempotencyKeyHeader = z
  .string('The header Idempotency-Key is missing.')
  .max(keyCharsMax, `The idempotency key must have at most ${keyCharsMax} characters.`)
  .regex(/^[!-~]+$/, 'The idempotency key must be visible ASCII without spaces.')
  .meta({
    description: "A document's name, as `idempotency_key` is a push's. Required with a document.",
    examples: ['january.csv'],
  });

export const shapeVersionHeader = shapeVersionText.meta({
  description:
    "The version of the source's shape that the body is written against. Unset: the current one.",
});

/** Of a document's body; it is stored as it came. */
export const contentEncodingHeader = z
  .enum(['identity', 'gzip', 'zstd'], 'This content coding is not taken here.')
  .meta({
    description: "The coding of a document's body. Hash and limit are over the bytes as sent.",
  });

/** `Service-Delivery-Id` (specification, "POST /v1/webhooks/{source_id}"). */
export const deliveryIdHeader = z
  .string('The delivery id is missing.')
  .min(1, 'The delivery id is missing.')
  .max(idCharsMax, `The delivery id must have at most ${idCharsMax} characters.`)
  .regex(
    /^[A-Za-z0-9_:-]+$/,
    'The delivery id may hold letters, digits, dash, underscore and colon only.',
  )
  .meta({
    description:
      "The caller's id for the delivery and its idempotency key; part of what is signed.",
    examples: ['evt-2026-01-31:7'],
  });

export const ifNoneMatchHeader = z.string().meta({
  description: 'The `ETag` of an answer that the reader has: while it still holds, 304.',
});

/** The query of GET /v1/samples. */
export const samplesQuery = {
  from: day('from').meta({
    description: 'First day, inclusive. Unset: as far back as the window reaches.',
    examples: ['2026-01-01'],
  }),
  to: day('to').meta({
    description: "The day after the last, exclusive. Unset: tomorrow in the company's timezone.",
    examples: ['2026-02-01'],
  }),
  sandbox: truth('sandbox').meta({
    description: 'Only sandbox samples, or only the others. Unset: both.',
  }),
};

export const artifactIdParameter = uuid.meta({ description: 'The delivery, as receipts name it.' });

/** The lookup judges it, so that an id that is none takes the same time as one of nobody. */
export const sourceIdParameter = uuid.meta({ description: 'The webhook source.' });
