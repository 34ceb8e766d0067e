import type { IncomingHttpHeaders } from 'node:http';
import { assert } from '../../std/assert.ts';
import { type ArtifactMeta, ArtifactMissing } from '../artifacts.ts';
import { checkedMeta } from '../checked-meta.ts';

const prefix = 'x-amz-meta-';
const longKey = 'idempotency-key-base64url';

/** S3 keeps 2 KiB of names and values together. */
const metaBytesMax = 2_048;

/** Longer keys go as base64url: percent-encoding makes up to 12 bytes of one character. */
const percentEncodedMax = 1_024;

/**
 * An object's metadata as headers of its PUT. Texts are percent-encoded UTF-8, since header values
 * are ASCII; an idempotency key that is long that way goes as base64url under a name of its own.
 */
export function encodeMeta(meta: ArtifactMeta): Record<string, string> {
  const key = encodeURIComponent(meta.idempotencyKey);
  const fields: Record<string, string> = {
    'artifact-id': encodeURIComponent(meta.artifactId),
    'source-id': encodeURIComponent(meta.sourceId),
    sandbox: String(meta.sandbox),
    ...(key.length <= percentEncodedMax
      ? { 'idempotency-key': key }
      : { [longKey]: Buffer.from(meta.idempotencyKey).toString('base64url') }),
    'shape-version': String(meta.shapeVersion),
    delivery: meta.delivery,
    'media-type': encodeURIComponent(meta.mediaType),
    encoding: meta.encoding,
    'received-at': String(meta.receivedAt),
  };
  const headers = Object.entries(fields).map(([name, value]) => [`${prefix}${name}`, value]);
  const bytes = headers.flat().join('').length;
  assert(bytes <= metaBytesMax, `metadata fits into ${metaBytesMax} bytes, not ${bytes}`);
  return Object.fromEntries(headers);
}

/** The metadata among an answer's headers, their names without `x-amz-meta-`. */
export function fieldsOf(headers: IncomingHttpHeaders): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(prefix) && typeof value === 'string') {
      fields[name.slice(prefix.length)] = value;
    }
  }
  return fields;
}

/**
 * The metadata in an object's headers, their names without `x-amz-meta-`.
 *
 * @throws ArtifactMissing when a field is missing or damaged: they were stored with the body
 */
export function decodeMeta(object: string, fields: Readonly<Record<string, string>>): ArtifactMeta {
  const meta = checkedMeta({
    artifactId: text(fields['artifact-id']),
    sourceId: text(fields['source-id']),
    sandbox: { true: true, false: false }[fields.sandbox ?? ''],
    idempotencyKey: keyIn(fields),
    shapeVersion: wholeNumber(fields['shape-version']),
    delivery: fields.delivery,
    mediaType: text(fields['media-type']),
    encoding: fields.encoding,
    receivedAt: wholeNumber(fields['received-at']),
  });
  if (!meta) throw new ArtifactMissing(`the metadata of ${object} is incomplete`);
  return meta;
}

function keyIn(fields: Readonly<Record<string, string>>): string | undefined {
  const long = fields[longKey];
  if (long === undefined) return text(fields['idempotency-key']);
  return Buffer.from(long, 'base64url').toString();
}

function text(value: string | undefined): string | undefined {
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

function wholeNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
