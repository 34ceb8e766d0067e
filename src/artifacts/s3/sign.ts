import { createHash, createHmac } from 'node:crypto';

/** A request without query, as Signature Version 4 sees it. */
export interface Signable {
  readonly method: string;
  /** Already percent-encoded. */
  readonly path: string;
  /** Names in lowercase; values trimmed. All are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** The value of `x-amz-content-sha256`. */
  readonly payload: string;
}

export interface Signer {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** The `x-amz-date` of a time in milliseconds: `20261120T225400Z`. */
export function amzDate(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
}

/**
 * The `Authorization` header of a request, by AWS Signature Version 4 (Amazon S3 API reference,
 * "Authenticating Requests: Using the Authorization Header"). `date` is that of `amzDate`.
 */
export function authorization(request: Signable, signer: Signer, date: string): string {
  const names = Object.keys(request.headers).sort();
  const canonical = [
    request.method,
    request.path,
    '',
    ...names.map((name) => `${name}:${request.headers[name]}`),
    '',
    names.join(';'),
    request.payload,
  ].join('\n');
  const day = date.slice(0, 8);
  const scope = `${day}/${signer.region}/s3/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const signature = createHmac('sha256', signingKey(signer, day))
    .update(['AWS4-HMAC-SHA256', date, scope, hash].join('\n'))
    .digest('hex');
  const fields = [
    `Credential=${signer.accessKey}/${scope}`,
    `SignedHeaders=${names.join(';')}`,
    `Signature=${signature}`,
  ];
  return `AWS4-HMAC-SHA256 ${fields.join(',')}`;
}

function signingKey({ secretKey, region }: Signer, day: string): Buffer {
  return [day, region, 's3', 'aws4_request'].reduce(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    Buffer.from(`AWS4${secretKey}`),
  );
}
