import { createHash } from 'node:crypto';
import { hostHeader, type S3Address } from '../../src/artifacts/s3/address.ts';
import { amzDate, authorization } from '../../src/artifacts/s3/sign.ts';
import type { Target } from './messages.ts';
import { deliveryKey } from './push.ts';

/** A request without its body: what differs between the targets. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The status that says that a delivery is kept. */
export const keptStatus = { ingest: 202, put: 200, tus: 201 } as const;

const unsigned = 'UNSIGNED-PAYLOAD';

/** The head of delivery number `n`, without its length. @param body in parts */
export function requestHead(
  target: Target,
  n: number,
  mediaType: string,
  body: readonly Uint8Array[],
): RequestHead {
  if (target.kind === 'put') {
    const payload = target.hashed ? sha256Of(body) : unsigned;
    return signedPut(target.address, `direct/${deliveryKey(n)}`, payload);
  }
  const host = `127.0.0.1:${target.port}`;
  if (target.kind === 'tus') {
    const type = 'application/offset+octet-stream';
    const headers = { host, 'tus-resumable': '1.0.0', 'content-type': type };
    return { method: 'POST', path: '/files/', headers };
  }
  const key = target.keys[n % target.keys.length]!;
  const headers: Record<string, string> = {
    host,
    authorization: `Bearer ${key}`,
    'content-type': mediaType,
  };
  if (mediaType === 'application/octet-stream') headers['idempotency-key'] = deliveryKey(n);
  return { method: 'POST', path: '/v1/ingest', headers };
}

function sha256Of(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** @param payload what is signed of the body: its hash, or that it is not signed */
function signedPut(address: S3Address, object: string, payload: string): RequestHead {
  const path = `/${address.bucket}/${object}`;
  const date = amzDate(Date.now());
  const headers: Record<string, string> = {
    host: hostHeader(address),
    'x-amz-content-sha256': payload,
    'x-amz-date': date,
  };
  const signed = authorization({ method: 'PUT', path, headers, payload }, address, date);
  return { method: 'PUT', path, headers: { ...headers, authorization: signed } };
}

/** The text of a head, up to the body. */
export function headText({ method, path, headers }: RequestHead, length: number): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}content-length: ${length}\r\n\r\n`;
}
