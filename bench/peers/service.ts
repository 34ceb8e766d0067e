import { createHash } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import type { KeyRow, Ledger, Receipt } from './ledger.ts';
import type { Rates } from './rate.ts';
import type { BodyStore } from './store.ts';

const bodyBytesMax = 8_388_608;

export interface ServiceParts {
  readonly ledger: Ledger;
  readonly rates: Rates;
  readonly store: BodyStore;
}

/** What is refused, as the Error object of the same API. */
class Refusal extends Error {
  readonly statusCode: number;
  readonly code: string;
  readonly field: string | undefined;

  constructor(statusCode: number, code: string, message: string, field?: string) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.field = field;
  }
}

const invalid = (field: string, message: string) =>
  new Refusal(400, 'invalid_argument', message, field);

/**
 * The service that most would write for the same door: Fastify reads the body into memory, it is
 * checked and hashed, put into the store by the store's usual client, and its receipt is inserted
 * into SQLite before the answer. It checks what weir checks, and promises what weir promises: a
 * 202 means that body and receipt are durable.
 */
export function createService({ ledger, rates, store }: ServiceParts): FastifyInstance {
  const app = Fastify({ bodyLimit: bodyBytesMax, logger: false });
  const whole = { parseAs: 'buffer' } as const;
  app.removeAllContentTypeParsers();
  for (const type of ['application/json', 'application/octet-stream']) {
    app.addContentTypeParser(type, whole, (_request, body, done) => done(null, body));
  }
  app.setErrorHandler((error: Partial<Refusal>, _request, reply) => {
    const { statusCode = 500, code = 'internal', message, field } = error;
    return reply.code(statusCode).send({ code, message, ...(field ? { field } : {}) });
  });
  app.decorateRequest('holder');

  app.post('/v1/ingest', {
    onRequest: async (request, reply) => {
      const holder = admit(ledger, rates, request, reply);
      (request as Held).holder = holder;
    },
    handler: async (request, reply) => {
      const { holder } = request as Held;
      const { body } = request;
      if (!(body instanceof Buffer) || body.length === 0) {
        throw invalid('body', 'The body is empty.');
      }
      const named = isPush(request) ? readPush(body, holder) : readDocument(request, holder);
      const { receipt, replayed } = await keep({ ledger, store }, holder, named, body, request);
      if (replayed) reply.header('Idempotency-Replayed', 'true');
      return reply
        .code(202)
        .send({ artifact_id: receipt.id, shape_version: receipt.shapeVersion, status: 'queued' });
    },
  });
  return app;
}

type Held = FastifyRequest & { holder: KeyRow };

/** Key, scope and rate, before the body is read. */
function admit(ledger: Ledger, rates: Rates, request: FastifyRequest, reply: FastifyReply): KeyRow {
  const text = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const now = Date.now();
  const holder = text === undefined ? null : ledger.key(text);
  if (!holder || holder.expiresAt <= now) {
    throw new Refusal(401, 'unauthenticated', 'The access key is missing or unknown.');
  }
  if (!holder.scope.includes('write')) {
    throw new Refusal(403, 'insufficient_scope', 'The key does not push.');
  }
  const { admitted, headers } = rates.take(holder.keyId, now);
  reply.headers(headers);
  if (!admitted) throw new Refusal(429, 'rate_limited', 'Too many requests.');
  return holder;
}

interface Named {
  readonly idempotencyKey: string;
  readonly shapeVersion: number;
}

function isPush(request: FastifyRequest): boolean {
  return (request.headers['content-type'] ?? '').startsWith('application/json');
}

function readPush(body: Buffer, holder: KeyRow): Named {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  const push = JSON.parse(text) as {
    idempotency_key?: unknown;
    shape_version?: unknown;
    payload?: unknown;
  };
  const { idempotency_key: idempotencyKey, shape_version: shapeVersion, payload } = push;
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '' || idempotencyKey.length > 200) {
    throw invalid('idempotency_key', 'It must be a text of 1 to 200 characters.');
  }
  if (shapeVersion !== holder.shapeVersion) {
    throw invalid('shape_version', 'The source has no such shape version.');
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw invalid('payload', 'It must be an object.');
  }
  for (const [name, value] of Object.entries(payload)) {
    if (typeof value !== 'string') throw invalid(`payload.${name}`, 'It must be a text.');
  }
  const missing = holder.required.find((name) => !Object.hasOwn(payload, name));
  if (missing !== undefined) throw invalid(`payload.${missing}`, 'It is required.');
  return { idempotencyKey, shapeVersion };
}

function readDocument(request: FastifyRequest, holder: KeyRow): Named {
  const idempotencyKey = request.headers['idempotency-key'];
  if (typeof idempotencyKey !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(idempotencyKey)) {
    throw invalid('Idempotency-Key', 'It must be 1 to 200 visible ASCII characters.');
  }
  return { idempotencyKey, shapeVersion: holder.shapeVersion };
}

async function keep(
  { ledger, store }: Pick<ServiceParts, 'ledger' | 'store'>,
  { sourceId }: KeyRow,
  { idempotencyKey, shapeVersion }: Named,
  body: Buffer,
  request: FastifyRequest,
): Promise<{ receipt: Receipt; replayed: boolean }> {
  const sha256 = createHash('sha256').update(body).digest();
  const known = ledger.known(sourceId, idempotencyKey, sha256);
  if (known) return { receipt: known, replayed: true };
  const id = uuid();
  await store.put(id, body, {
    'Content-Type': request.headers['content-type'] ?? 'application/octet-stream',
    'X-Amz-Meta-Source': sourceId,
    'X-Amz-Meta-Shape-Version': String(shapeVersion),
  });
  const about = { id, sourceId, idempotencyKey, sha256, shapeVersion };
  const receipt = ledger.record({ ...about, bytes: body.length, receivedAt: Date.now() });
  return { receipt, replayed: receipt.id !== id };
}
