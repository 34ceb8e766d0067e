import type { Operation } from './document.ts';
import { type BuiltRequest, isSigned, signatureName } from './request.ts';

/** An answer as it is shown. */
export interface ShownAnswer {
  readonly status: number;
  readonly ms: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON is laid out in lines. */
  readonly body: string;
  /** Of an error. */
  readonly code: string | null;
}

export interface Credentials {
  readonly accessKey: string;
  readonly signingSecret: string;
}

/**
 * Sends a request from this page, as any program would.
 *
 * @throws TypeError when the API cannot be reached
 */
export async function sendRequest(
  request: BuiltRequest,
  operation: Operation,
  credentials: Credentials,
): Promise<ShownAnswer> {
  const headers = new Headers(request.headers.map(([name, value]) => [name, value]));
  if (operation.keyed) headers.set('Authorization', `Bearer ${credentials.accessKey}`);
  if (isSigned(operation)) {
    const id = headers.get('Service-Delivery-Id') ?? '';
    const signature = await sign(credentials.signingSecret, id, request.body ?? '');
    headers.set(signatureName, signature);
  }
  const started = performance.now();
  const { method, body, url } = request;
  // The page's cookies are not the API's; no answer is taken from before.
  const apart = { credentials: 'omit', cache: 'no-store' } as const;
  const answer = await fetch(url, { method, headers, body, ...apart });
  const text = await answer.text();
  const json = readJson(text);
  return {
    status: answer.status,
    ms: Math.round(performance.now() - started),
    headers: [...answer.headers],
    body: json === undefined ? text : JSON.stringify(json, null, 2),
    code: answer.ok ? null : ((json as { code?: string } | undefined)?.code ?? null),
  };
}

/** Undefined: it is no JSON, and shown as it came. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `Service-Signature` (specification, "Webhook signature"). */
async function sign(secret: string, deliveryId: string, body: string): Promise<string> {
  const seconds = Math.floor(Date.now() / 1_000);
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign']);
  const signed = await crypto.subtle.sign('HMAC', key, bytes(`${seconds}.${deliveryId}.${body}`));
  const hex = [...new Uint8Array(signed)].map((byte) => byte.toString(16).padStart(2, '0'));
  return `t=${seconds},v1=${hex.join('')}`;
}
