import { createHash, createHmac } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MadeBody } from './bodies.ts';
import type { Scope, Sending } from './draws.ts';

/** A scope with what opens it; it is told to the load and to nobody else. */
export interface OpenScope extends Scope {
  /** Of a webhook source: for reading. */
  readonly accessKey: string;
  /** Of a webhook source. */
  readonly secret: string | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Longer than any fault lasts: who waits for so long was forgotten. */
const answerWaitMs = 20_000;
/** One more than a delivery may have. */
const tooLong = 8_388_609;

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a delivery once. @returns null when no whole answer came */
export async function post(
  url: string,
  scope: OpenScope,
  sending: Sending,
  body: MadeBody,
): Promise<Answer | null> {
  const path = scope.kind === 'webhook' ? `/v1/webhooks/${scope.sourceId}` : '/v1/ingest';
  const headers = headersOf(scope, sending, body);
  const options = { method: 'POST', agent, headers, signal: AbortSignal.timeout(answerWaitMs) };
  const request = http.request(`${url}${path}`, options);
  const answer = answerOf(request);
  if (sending.how === 'cut') {
    request.write(body.bytes.subarray(0, body.bytes.length >> 1));
    await Promise.race([sleep(20), answer]);
    request.destroy();
  } else if (sending.body.refusal === 'too_long') {
    // It is judged by the length that the head declares.
    request.write(body.bytes);
    await answer;
    request.destroy();
  } else {
    request.end(body.bytes);
  }
  return answer;
}

/** Reads something with the key of a scope. @returns null when no whole answer came */
export function get(url: string, scope: OpenScope, path: string): Promise<Answer | null> {
  const headers = { Authorization: `Bearer ${scope.accessKey}` };
  const signal = AbortSignal.timeout(answerWaitMs);
  const request = http.request(`${url}${path}`, { agent, headers, signal });
  request.end();
  return answerOf(request);
}

function answerOf(request: http.ClientRequest): Promise<Answer | null> {
  return new Promise((resolve) => {
    const gone = () => resolve(null);
    request.on('error', gone);
    request.on('close', gone);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', gone);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(parts).toString() });
      });
    });
  });
}

function headersOf(scope: OpenScope, { body: spec }: Sending, body: MadeBody) {
  const { refusal, key } = spec;
  const length = refusal === 'too_long' ? tooLong : body.bytes.length;
  const version = refusal === 'version_unknown' ? { 'X-Service-Shape-Version': '99' } : {};
  if (scope.kind === 'webhook') {
    const type = refusal === 'media_type_wrong' ? 'text/plain' : body.mediaType;
    return {
      ...{ 'Content-Type': type, 'Content-Length': length, 'Service-Delivery-Id': key },
      'Service-Signature': signatureOf(scope.secret!, key, body.bytes, refusal),
      ...version,
    };
  }
  const access = refusal === 'access_key_unknown' ? `${scope.accessKey}x` : scope.accessKey;
  const own = { 'Content-Type': body.mediaType, 'Content-Length': length };
  const headers = { ...own, Authorization: `Bearer ${access}` };
  if (scope.kind === 'push') return headers;
  const named = refusal === 'key_missing' ? {} : { 'Idempotency-Key': key };
  return { ...headers, ...named, ...version };
}

/** As the specification has it ("Webhook signature", 2). */
function signatureOf(secret: string, id: string, bytes: Buffer, refusal: string | null): string {
  const time = Math.floor(Date.now() / 1_000);
  const used = refusal === 'signature_wrong' ? `${secret}x` : secret;
  const hmac = createHmac('sha256', used).update(`${time}.${id}.`).update(bytes);
  return `t=${time},v1=${hmac.digest('hex')}`;
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
