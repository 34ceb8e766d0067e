import { type Body, bytesBody } from './body.ts';
import { type Delivered, deliver, type SenderParts } from './deliver.ts';
import { DeliveryFailed } from './failure.ts';
import { signatureHeader } from './signature.ts';

/**
 * The sender's side of weir, for programs that send (specification, "Webhook delivery contract
 * (for senders)"). It needs nothing of the rest of weir. Each call resolves with the receipt,
 * however long that takes within 3 days, and throws DeliveryFailed when there will be none.
 */

/** Where access keys push to. */
export interface Ingest {
  /** Of the service, such as `https://weir.example`. */
  readonly baseUrl: string;
  readonly accessKey: string;
}

export interface Push {
  /** 1 to 200 characters; the same delivery keeps it for ever. */
  readonly idempotencyKey: string;
  readonly shapeVersion: number;
  /** Amounts are exact decimals, as text. */
  readonly payload: Readonly<Record<string, string>>;
}

export interface DocumentPush {
  /** 1 to 200 of visible ASCII. */
  readonly idempotencyKey: string;
  /** Absent: the source's current one. */
  readonly shapeVersion?: number | undefined;
  /** How the body is compressed already. */
  readonly encoding?: 'gzip' | 'zstd' | undefined;
  readonly body: Body;
}

/** Pushes a delivery to a push source. */
export function push(to: Ingest, what: Push, parts?: SenderParts): Promise<Delivered> {
  const { idempotencyKey, shapeVersion, payload } = what;
  const envelope = { idempotency_key: idempotencyKey, shape_version: shapeVersion, payload };
  return pushEnvelope(to, bytesBody(JSON.stringify(envelope)), parts);
}

/** Pushes a body that is a Delivery already (specification, "Delivery"). */
export async function pushEnvelope(
  to: Ingest,
  body: Body,
  parts?: SenderParts,
): Promise<Delivered> {
  const headers = { ...authorization(to), 'Content-Type': 'application/json' };
  return deliver({ url: ingestUrl(to), body, headers: async () => headers }, parts);
}

/** Pushes a document to a document source. */
export async function pushDocument(
  to: Ingest,
  what: DocumentPush,
  parts?: SenderParts,
): Promise<Delivered> {
  const { idempotencyKey, shapeVersion, encoding, body } = what;
  if (!/^[\x21-\x7e]{1,200}$/.test(idempotencyKey)) {
    throw refused('Idempotency-Key', 'The idempotency key must be 1 to 200 of visible ASCII.');
  }
  const headers = {
    ...authorization(to),
    'Content-Type': 'application/octet-stream',
    'Idempotency-Key': idempotencyKey,
    ...(shapeVersion === undefined ? {} : { 'X-Service-Shape-Version': String(shapeVersion) }),
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  };
  return deliver({ url: ingestUrl(to), body, headers: async () => headers }, parts);
}

/** A webhook source. */
export interface WebhookAddress {
  /** The source's whole address. */
  readonly url: string;
  /** As it was shown, prefix included. */
  readonly signingSecret: string;
}

export interface Webhook {
  /** 1 to 200 letters, digits, dash, underscore or colon; the same event keeps it for ever. */
  readonly deliveryId: string;
  readonly mediaType: 'application/json' | 'text/csv';
  readonly body: Body;
}

/** Delivers one webhook; each attempt is signed anew under the same delivery id. */
export async function sendWebhook(
  to: WebhookAddress,
  what: Webhook,
  parts?: SenderParts,
): Promise<Delivered> {
  const { deliveryId, mediaType, body } = what;
  if (!/^[A-Za-z0-9_:-]{1,200}$/.test(deliveryId)) {
    const form = '1 to 200 letters, digits, dash, underscore or colon';
    throw refused('Service-Delivery-Id', `The delivery id must be ${form}.`);
  }
  const headers = async (nowMs: number) => ({
    'Content-Type': mediaType,
    'Service-Delivery-Id': deliveryId,
    'Service-Signature': await signatureHeader(to.signingSecret, deliveryId, body.parts(), nowMs),
  });
  return deliver({ url: httpUrl(to.url), body, headers }, parts);
}

function ingestUrl(to: Ingest): URL {
  return httpUrl(`${to.baseUrl.replace(/\/+$/, '')}/v1/ingest`);
}

function httpUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw refused('url', `${text} is no address with http or https.`);
}

function authorization(to: Ingest): { Authorization: string } {
  // A header with other characters could not be sent.
  if (!/^[\x21-\x7e]+$/.test(to.accessKey)) {
    throw refused('Authorization', 'The access key must be visible ASCII without spaces.');
  }
  return { Authorization: `Bearer ${to.accessKey}` };
}

function refused(field: string, message: string): DeliveryFailed {
  return new DeliveryFailed('invalid_argument', message, { field });
}
