import type { Lookup, SignedSource } from '../catalog/catalog.ts';
import { readBy } from '../domain/api/read.ts';
import { signatureHeader } from '../domain/api/signature-header.ts';
import { ApiError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { RateRule } from '../domain/rates.ts';
import {
  deliveryIdProblem,
  type SignatureHeader,
  signatureCheck,
  signatureTimeProblem,
} from '../domain/signature.ts';
import { requireRate } from '../http/admission.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import { type Framing, framingOf } from '../http/framing.ts';
import type { RequestHead } from '../http/head.ts';
import type { Route } from '../http/routes.ts';
import type { Rates } from '../rates/rates.ts';
import { Body, BodyTooLong, SenderGone } from './body.ts';
import { contentEncodingOf, mediaTypeOf, shapeVersionOfHeader } from './checks.ts';
import { evenLookup } from './even-lookup.ts';
import { type HeldBody, holdBody } from './held-body.ts';
import { type AcceptParts, type DeliveryHead, keepBody, replayKnown } from './keep.ts';

export interface WebhookParts extends AcceptParts {
  /** Holds what strangers send until their signature is checked. */
  readonly unverifiedBudget: ByteBudget;
  readonly rates: Rates;
  readonly rate: RateRule;
  /** Opens a sealed signing secret. */
  openSecret(secretId: string, sealed: Buffer): string;
  /** A secret nobody has: what an unknown source is checked against. */
  readonly dummySecret: { readonly secretId: string; readonly sealed: Buffer };
  noteSecretUse(secretId: string, now: number): void;
}

/** A source has a current secret, and for a while the one before. */
const secretsChecked = 2;

/** POST /v1/webhooks/{source_id} (specification, "deliver one webhook"). */
export function webhookRoute(parts: WebhookParts): Route {
  const sources = evenLookup(parts.catalog.lookup);
  return {
    method: 'POST',
    pattern: '/v1/webhooks/:source_id',
    async handle(exchange, [sourceId = '']) {
      const body = new Body(exchange);
      try {
        exchange.reply(await take(parts, sources, exchange, body, sourceId));
      } catch (error) {
        body.abandon();
        if (error instanceof SenderGone) return;
        if (error instanceof BodyTooLong) throw tooLarge(error.unfinished);
        throw error;
      }
    },
  };
}

/** What the head says, judged: nothing of it is believed before the signature holds. */
interface WebhookHead {
  readonly signature: SignatureHeader;
  readonly deliveryId: string;
  readonly mediaType: string;
  readonly framing: Framing;
}

/** The order of the checks is the contract's (DECISIONS 6). */
async function take(
  parts: WebhookParts,
  sources: Pick<Lookup, 'signedSource'>,
  exchange: Exchange,
  body: Body,
  sourceId: string,
): Promise<Reply> {
  const now = parts.clock();
  const head = judgeHead(exchange.head, now);
  const signed = await sources.signedSource(sourceId, now);
  const { held, secretId } = await verify(parts, head, body, signed);
  try {
    // One answer for all three: no such source, no webhook source, wrong secret.
    if (!signed || secretId === null) throw notFound();
    const { source } = signed;
    requireRate(exchange, await parts.rates.take(`webhook:${source.sourceId}`, parts.rate));
    exchange.onAnswer((status) => {
      if (status < 400) parts.noteSecretUse(secretId, now);
    });
    const about = { ...deliveryOf(signed, head, now) };
    const probe = { ...about, sha256: held.sha256 };
    const known = await parts.catalog.lookup.known(probe);
    if (known?.by === 'key') return await replayKnown(parts, probe, now);
    const shapeVersion = shapeVersionOfHeader(exchange.head) ?? source.shapeVersion;
    if (!(await parts.catalog.lookup.shape(source.sourceId, shapeVersion))) {
      throw invalid('X-Service-Shape-Version', 'The source has no such shape version.');
    }
    if (known) return await replayKnown(parts, probe, now);
    return await keepBody(parts, { ...about, shapeVersion }, held, secretId);
  } finally {
    held.release();
  }
}

/** @throws ApiError 401, 400, 415, 413, in this order */
function judgeHead(head: RequestHead, now: number): WebhookHead {
  const header = head.header('Service-Signature');
  if (header === undefined) {
    throw new ApiError(
      401,
      'unauthenticated',
      'A webhook is signed: Service-Signature is missing.',
    );
  }
  const reading = readBy(signatureHeader, header);
  if ('problem' in reading) throw invalid('Service-Signature', reading.problem);
  const signature = reading.value;
  const deliveryId = head.header('Service-Delivery-Id');
  const idProblem = deliveryIdProblem(deliveryId);
  if (idProblem) throw invalid('Service-Delivery-Id', idProblem);
  const timeProblem = signatureTimeProblem(signature.time, now);
  if (timeProblem) throw invalid('Service-Signature', timeProblem);
  const mediaType = mediaTypeOf(head);
  if (mediaType !== 'application/json' && mediaType !== 'text/csv') {
    throw new ApiError(415, 'unsupported_media_type', 'A webhook is application/json or text/csv.');
  }
  contentEncodingOf(head, ['identity']);
  const framing = framingOf(head);
  if (framing.kind === 'length' && framing.bytes > limits.deliveryBytesMax) throw tooLarge(false);
  return { signature, deliveryId: deliveryId!, mediaType, framing };
}

/**
 * Takes the body in, and checks its signature against two secrets as it arrives: the source's
 * own, filled up with one that nobody has, so that every cause of a refusal takes the same work.
 */
async function verify(
  parts: WebhookParts,
  head: WebhookHead,
  body: Body,
  signed: SignedSource | null,
): Promise<{ held: HeldBody; secretId: string | null }> {
  const { signature, deliveryId, framing } = head;
  const own = signed?.source.delivery === 'webhook' ? signed.secrets : [];
  const secrets = Array.from({ length: secretsChecked }, (_, i) => own[i] ?? parts.dummySecret);
  const checks = secrets.map(({ secretId, sealed }, i) => ({
    secretId: i < own.length ? secretId : null,
    check: signatureCheck(parts.openSecret(secretId, sealed), signature.timeText, deliveryId),
  }));
  const held = await holdBody(parts.unverifiedBudget, body, framing, (bytes) => {
    for (const { check } of checks) check.update(bytes);
  });
  let found: string | null = null;
  for (const { secretId, check } of checks) {
    if (check.matches(signature.signatures) && secretId !== null) found ??= secretId;
  }
  return { held, secretId: found };
}

function deliveryOf(signed: SignedSource, head: WebhookHead, now: number): DeliveryHead {
  return {
    sourceId: signed.source.sourceId,
    sandbox: false,
    idempotencyKey: head.deliveryId,
    shapeVersion: signed.source.shapeVersion,
    delivery: 'webhook',
    mediaType: head.mediaType,
    encoding: 'identity',
    receivedAt: now,
  };
}

function notFound(): ApiError {
  return new ApiError(404, 'not_found', 'No webhook source takes this delivery.');
}

function tooLarge(close: boolean): ApiError {
  const message = `A delivery has at most ${limits.deliveryBytesMax} bytes.`;
  return new ApiError(413, 'too_large', message, { field: 'body', close });
}
