import { contentEncodingHeader, shapeVersionHeader } from '../domain/api/head.ts';
import { readBy } from '../domain/api/read.ts';
import { ApiError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { ContentEncoding } from '../domain/nouns.ts';
import { type Framing, framingOf } from '../http/framing.ts';
import type { RequestHead } from '../http/head.ts';

/** 413 of ingest: `invalid_argument` with `field` (specification, "POST /v1/ingest"). */
export function deliveryTooLarge(close = false): ApiError {
  const message = `A delivery has at most ${limits.deliveryBytesMax} bytes.`;
  return new ApiError(413, 'invalid_argument', message, { field: 'body', close });
}

/**
 * How the body comes, with its declared length judged.
 *
 * @throws ApiError 413 over the limit, 400 `body` when empty
 */
export function judgedFraming(head: RequestHead): Framing {
  const framing = framingOf(head);
  if (framing.kind === 'length') {
    if (framing.bytes > limits.deliveryBytesMax) throw deliveryTooLarge();
    if (framing.bytes === 0) throw emptyBody();
  }
  return framing;
}

export function emptyBody(): ApiError {
  return invalid('body', 'The body must not be empty.');
}

/**
 * The media type without its parameters, in lower case; undefined without the header
 * (RFC 9110, section 8.3.1).
 */
export function mediaTypeOf(head: RequestHead): string | undefined {
  return head.header('Content-Type')?.split(';', 1)[0]?.trim().toLowerCase();
}

/** @throws ApiError 400 naming `Content-Type` */
export function requireMediaType(head: RequestHead, wanted: string): void {
  if (mediaTypeOf(head) !== wanted) {
    throw invalid('Content-Type', `This source takes bodies of the media type ${wanted}.`);
  }
}

/**
 * The content coding of the body.
 *
 * @param taken the codings this kind of delivery may have
 * @throws ApiError 400 naming `Content-Encoding`
 */
export function contentEncodingOf(
  head: RequestHead,
  taken: readonly ContentEncoding[],
): ContentEncoding {
  const named = head.header('Content-Encoding')?.trim().toLowerCase() ?? 'identity';
  const reading = readBy(contentEncodingHeader, named);
  if ('problem' in reading) throw invalid('Content-Encoding', reading.problem);
  if (!taken.includes(reading.value)) {
    throw invalid('Content-Encoding', 'This content coding is not taken here.');
  }
  return reading.value;
}

/**
 * The shape version that a header names; undefined without the header.
 *
 * @throws ApiError 400 naming `X-Service-Shape-Version`
 */
export function shapeVersionOfHeader(head: RequestHead): number | undefined {
  const text = head.header('X-Service-Shape-Version');
  if (text === undefined) return undefined;
  const reading = readBy(shapeVersionHeader, text);
  if ('problem' in reading) throw invalid('X-Service-Shape-Version', reading.problem);
  return reading.value;
}
