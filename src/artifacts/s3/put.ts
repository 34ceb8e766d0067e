import { assert } from '../../std/assert.ts';
import { hostHeader, type S3Address } from './address.ts';
import { amzDate, authorization } from './sign.ts';

const streaming = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const checksum = 'x-amz-checksum-sha256';
const trailerBytes = trailer(Buffer.alloc(32), 0).length;

/** One PUT whose body comes as one aws-chunk, with its checksum behind it. */
export interface Put {
  readonly object: string;
  /** Bytes of the body. */
  readonly length: number;
  /** `x-amz-meta-*`, names in lowercase. */
  readonly meta: Readonly<Record<string, string>>;
  /** Milliseconds since 1970; the store refuses more than 15 minutes off its own clock. */
  readonly now: number;
}

/**
 * All that goes before the body's first byte: request line, signed headers and the aws-chunk's
 * size (Amazon S3 API reference, "Signature calculations: trailing headers").
 */
export function putHead(address: S3Address, put: Put): string {
  const path = `/${address.bucket}/${put.object}`;
  const date = amzDate(put.now);
  const headers: Record<string, string> = {
    host: hostHeader(address),
    'content-encoding': 'aws-chunked',
    'x-amz-content-sha256': streaming,
    'x-amz-date': date,
    'x-amz-decoded-content-length': String(put.length),
    'x-amz-trailer': checksum,
    ...put.meta,
  };
  const request = { method: 'PUT', path, headers, payload: streaming };
  const opening = put.length === 0 ? '' : `${put.length.toString(16)}\r\n`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return [
    `PUT ${path} HTTP/1.1\r\n`,
    ...lines,
    `authorization: ${authorization(request, address, date)}\r\n`,
    `content-length: ${framedLength(put.length)}\r\n\r\n`,
    opening,
  ].join('');
}

/**
 * The head of a PUT whose body is known: its hash is signed, and told as the checksum that the
 * store verifies and keeps ("Signature calculations: transferring payload in a single chunk").
 */
export function wholePutHead(address: S3Address, put: Put, sha256: Buffer): string {
  const path = `/${address.bucket}/${put.object}`;
  const date = amzDate(put.now);
  const payload = sha256.toString('hex');
  const headers: Record<string, string> = {
    host: hostHeader(address),
    [checksum]: sha256.toString('base64'),
    'x-amz-content-sha256': payload,
    'x-amz-date': date,
    ...put.meta,
  };
  const request = { method: 'PUT', path, headers, payload };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return [
    `PUT ${path} HTTP/1.1\r\n`,
    ...lines,
    `authorization: ${authorization(request, address, date)}\r\n`,
    `content-length: ${put.length}\r\n\r\n`,
  ].join('');
}

/** All that goes behind the body's last byte. The store keeps nothing until this has arrived. */
export function trailer(sha256: Buffer, length: number): string {
  assert(sha256.length === 32, 'a SHA-256 is 32 bytes');
  const closing = length === 0 ? '' : '\r\n';
  return `${closing}0\r\n${checksum}:${sha256.toString('base64')}\r\n\r\n`;
}

/** Bytes of the request's body: the chunk's size line, the body itself and the trailer. */
export function framedLength(length: number): number {
  if (length === 0) return trailerBytes;
  return length.toString(16).length + 2 + length + 2 + trailerBytes;
}
