import { hostHeader } from '../../src/artifacts/s3/address.ts';
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

/** The head of delivery number `n`, without its length. */
export function requestHead(target: Target, n: number, mediaType: string): RequestHead {
  if (target.kind === 'put') return signedPut(target.address, `direct/${deliveryKey(n)}`);
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

/** The cheapest PUT there is: the body is neither hashed by us nor checked by the store. */
function signedPut(address: Extract<Target, { kind: 'put' }>['address'], object: string) {
  const path = `/${address.bucket}/${object}`;
  const date = amzDate(Date.now());
  const headers: Record<string, string> = {
    host: hostHeader(address),
    'x-amz-content-sha256': unsigned,
    'x-amz-date': date,
  };
  const signed = authorization({ method: 'PUT', path, headers, payload: unsigned }, address, date);
  return { method: 'PUT', path, headers: { ...headers, authorization: signed } };
}

/** The text of a head, up to the body. */
export function headText({ method, path, headers }: RequestHead, length: number): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}content-length: ${length}\r\n\r\n`;
}
