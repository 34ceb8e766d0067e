import { limits } from '../domain/limits.ts';
import { assert } from '../std/assert.ts';
import type { ArtifactMeta } from './artifacts.ts';
import { assertObjectName, isSegmentName } from './object-name.ts';

const deliveries: readonly unknown[] = ['push', 'document', 'webhook'];
const encodings: readonly unknown[] = ['identity', 'gzip', 'zstd'];

/** Characters of a media type that fit, percent-encoded, beside the longest key on S3 (2 KiB). */
export const mediaTypeCharsMax = 200;

/**
 * States what every store relies on before it writes metadata.
 *
 * @throws Error `assertion failed: …`
 */
export function assertMeta(meta: ArtifactMeta): void {
  const { idempotencyKey, mediaType } = meta;
  assert(checkedMeta(meta), 'metadata is complete');
  assert(idempotencyKey.isWellFormed(), 'an idempotency key holds no lone surrogate');
  const chars = [...idempotencyKey].length;
  assert(chars <= limits.idempotencyKeyCharsMax, 'an idempotency key is at most 200 characters');
  assert(mediaType.length <= mediaTypeCharsMax, 'a media type is at most 200 characters');
  assert(/^[ -~]*$/.test(mediaType), 'a media type is printable ASCII');
}

/**
 * States what every store relies on before it begins an upload.
 *
 * @throws Error `assertion failed: …`
 */
export function assertBegin(object: string, length: number, meta: ArtifactMeta | null): void {
  assertObjectName(object);
  assert(
    isSegmentName(object) === (meta === null),
    'a segment, and nothing else, has its own index',
  );
  if (meta) assertMeta(meta);
  assert(Number.isSafeInteger(length) && length >= 0, 'a length is a number of bytes');
}

/** The metadata in what a store gave back; null when a field is missing or of a wrong type. */
export function checkedMeta(value: unknown): ArtifactMeta | null {
  if (typeof value !== 'object' || value === null) return null;
  const found = value as Record<keyof ArtifactMeta, unknown>;
  const { artifactId, sourceId, sandbox, idempotencyKey, shapeVersion } = found;
  const { delivery, mediaType, encoding, receivedAt } = found;
  const whole =
    typeof artifactId === 'string' &&
    typeof sourceId === 'string' &&
    typeof sandbox === 'boolean' &&
    typeof idempotencyKey === 'string' &&
    Number.isSafeInteger(shapeVersion) &&
    deliveries.includes(delivery) &&
    typeof mediaType === 'string' &&
    encodings.includes(encoding) &&
    Number.isSafeInteger(receivedAt);
  if (!whole) return null;
  return {
    ...{ artifactId, sourceId, sandbox, idempotencyKey, shapeVersion },
    ...{ delivery, mediaType, encoding, receivedAt },
  } as ArtifactMeta;
}
