import {
  artifactIdParameter,
  contentEncodingHeader,
  deliveryIdHeader,
  idempotencyKeyHeader,
  ifNoneMatchHeader,
  samplesQuery,
  shapeVersionHeader,
  sourceIdParameter,
} from '../../domain/api/head.ts';
import { signatureHeader } from '../../domain/api/signature-header.ts';
import { errorTable, type Refusal } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { Operation, Parameter, Success } from './operation.ts';

const rate = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
const failures = [
  [500, 'internal'],
  [503, 'internal'],
] as const satisfies readonly Refusal[];

const optional = (name: string, schema: Parameter['schema']): Parameter => ({
  name,
  in: 'header',
  schema,
});
const ifNoneMatch = optional('If-None-Match', ifNoneMatchHeader);
const shapeVersion = optional('X-Service-Shape-Version', shapeVersionHeader);

const stored: Success = {
  status: 202,
  description:
    'Stored: the bytes are durable. Parsing follows. A known key or known bytes give the first ' +
    'receipt again, byte for byte, and nothing is stored.',
  schema: 'Receipt',
  headers: [...rate],
  sometimes: ['Idempotency-Replayed', 'Idempotency-Body-Differs'],
};

const ingest: Operation = {
  id: 'ingest',
  method: 'POST',
  path: '/v1/ingest',
  summary: 'Push one delivery',
  description:
    'Needs a key of scope `write` or `read_write`. A push source takes JSON, a document source ' +
    'takes raw bytes; the headers below the media type belong to documents only. The bytes are ' +
    'stored as received before anything parses them.',
  keyed: true,
  parameters: [
    optional('Idempotency-Key', idempotencyKeyHeader),
    shapeVersion,
    optional('Content-Encoding', contentEncodingHeader),
  ],
  body: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Delivery' },
      examples: {
        push: {
          idempotency_key: 'billing-2026-01',
          shape_version: 1,
          payload: { month: '2026-01', mrr: '10.50', plan: 'pro' },
        },
      },
    },
    'application/octet-stream': {
      schema: {
        type: 'string',
        format: 'binary',
        minLength: 1,
        description: `A document in its source's format, at most ${limits.deliveryBytesMax} bytes.`,
      },
      examples: { csv: 'month,mrr,plan\n2026-01,10.50,pro\n' },
    },
  },
  success: [
    {
      ...stored,
      links: {
        delivery: {
          operationId: 'getDelivery',
          parameters: { artifact_id: '$response.body#/artifact_id' },
          description: 'What became of it.',
        },
      },
    },
  ],
  refusals: [
    [400, 'invalid_argument'],
    [401, 'unauthenticated'],
    [403, 'insufficient_scope'],
    [403, 'docs_origin_needs_sandbox'],
    [413, 'invalid_argument'],
    [429, 'rate_limited'],
    ...failures,
  ],
  examples: { 413: errorTable.too_large.example },
  rated: [400, 413, 500, 503],
};

const samples: Operation = {
  id: 'getSamples',
  method: 'GET',
  path: '/v1/samples',
  summary: "Read the source's samples over a window",
  description:
    'Needs a key of scope `read` or `read_write`. The samples come newest first, then by metric, ' +
    'labels and sandbox; superseded ones are left out. The window is at most ' +
    `${limits.windowDaysMax} days: a \`from\` further back is moved forward. At most ` +
    `${limits.samplesPerAnswerMax} samples come back.`,
  keyed: true,
  parameters: [
    { name: 'from', in: 'query', schema: samplesQuery.from },
    { name: 'to', in: 'query', schema: samplesQuery.to },
    { name: 'sandbox', in: 'query', schema: samplesQuery.sandbox },
    ifNoneMatch,
  ],
  success: [
    {
      status: 200,
      description: 'The window. When `truncated`, ask for a narrower one.',
      schema: 'Samples',
      headers: [...rate, 'ETag', 'Cache-Control', 'Vary'],
      sometimes: ['Content-Encoding'],
    },
    {
      status: 304,
      description: 'The reader has this answer already (`If-None-Match`).',
      headers: [...rate, 'ETag', 'Cache-Control', 'Vary'],
    },
  ],
  refusals: [
    [400, 'invalid_argument'],
    [401, 'unauthenticated'],
    [403, 'insufficient_scope'],
    [403, 'docs_origin_needs_sandbox'],
    [429, 'rate_limited'],
    ...failures,
  ],
  examples: { 400: { message: 'from must be a day before to.', field: 'from' } },
  rated: [400, 500, 503],
};

const delivery: Operation = {
  id: 'getDelivery',
  method: 'GET',
  path: '/v1/deliveries/{artifact_id}',
  summary: 'Ask what became of a delivery',
  description: 'Any live key of the source may ask.',
  keyed: true,
  parameters: [{ name: 'artifact_id', in: 'path', required: true, schema: artifactIdParameter }],
  success: [
    {
      status: 200,
      description: 'The delivery as it stands now.',
      schema: 'DeliveryView',
      headers: [...rate, 'Cache-Control'],
    },
  ],
  refusals: [
    [400, 'invalid_argument'],
    [401, 'unauthenticated'],
    [403, 'docs_origin_needs_sandbox'],
    [404, 'not_found'],
    [429, 'rate_limited'],
    ...failures,
  ],
  examples: {
    400: sentTwice('Authorization'),
    404: { message: 'The source has no such delivery.' },
  },
  rated: [400, 404, 500, 503],
};

const webhook: Operation = {
  id: 'deliverWebhook',
  method: 'POST',
  path: '/v1/webhooks/{source_id}',
  summary: 'Deliver one webhook',
  description:
    "Needs a signature by the source's signing secret; an access key does not open this address. " +
    'The body is one JSON object or an array of them, each carrying the declared fields, or CSV ' +
    'with a header row. It is stored exactly as it arrived, and only parsed afterwards: one that ' +
    'cannot be read is stored too, and rejected then. Retry 429 after `Retry-After`; 5xx and ' +
    'timeouts after 30 seconds, doubling to an hour, with jitter, for 3 days, signed anew each ' +
    'time under the same delivery id. Two deliveries of the same bytes are one.',
  keyed: false,
  parameters: [
    { name: 'source_id', in: 'path', required: true, schema: sourceIdParameter },
    {
      ...{ name: 'Service-Signature', in: 'header', required: true, schema: signatureHeader },
      shows: 'text',
    },
    { name: 'Service-Delivery-Id', in: 'header', required: true, schema: deliveryIdHeader },
    shapeVersion,
  ],
  body: {
    'application/json': {
      schema: { description: 'One object or an array of objects; judged when it is parsed.' },
      examples: {
        object: { month: '2026-01', mrr: '10.50', plan: 'pro' },
        array: [{ month: '2026-01', mrr: '10.50', plan: 'pro' }],
      },
    },
    'text/csv': {
      schema: { description: 'A header row, then one row for each record; judged when parsed.' },
      examples: { csv: 'month,mrr,plan\n2026-01,10.50,pro\n' },
    },
  },
  success: [stored],
  refusals: [
    [400, 'invalid_argument'],
    [401, 'unauthenticated'],
    [404, 'not_found'],
    [413, 'too_large'],
    [415, 'unsupported_media_type'],
    [429, 'rate_limited'],
    ...failures,
  ],
  examples: {
    400: { message: 'The delivery id is missing.', field: 'Service-Delivery-Id' },
    401: { message: 'A webhook is signed: Service-Signature is missing.' },
    404: { message: 'No webhook source takes this delivery.' },
  },
  rated: [400, 500, 503],
};

const openapi: Operation = {
  id: 'getOpenapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Read this document',
  description: 'Needs no key.',
  keyed: false,
  parameters: [ifNoneMatch],
  success: [
    {
      status: 200,
      description: 'This document.',
      json: true,
      headers: ['ETag', 'Cache-Control', 'Vary'],
    },
    {
      status: 304,
      description: 'The reader has it already.',
      headers: ['ETag', 'Cache-Control', 'Vary'],
    },
  ],
  refusals: [[400, 'invalid_argument']],
  examples: { 400: sentTwice('If-None-Match') },
  rated: [],
};

/** All that the API answers; the route table is held equal to it. */
export const operations: readonly Operation[] = [ingest, samples, delivery, webhook, openapi];

function sentTwice(field: string) {
  return { message: 'This header must stand only once.', field };
}
