import { jsonObject } from './answers.ts';
import { bytesBody, type FileBody, fileBody } from './body.ts';
import type { Delivered, SenderParts } from './deliver.ts';
import { DeliveryFailed } from './failure.ts';
import { type Ingest, pushDocument, pushEnvelope } from './sender.ts';

export interface PushFileOptions {
  /** The file's SHA-256 by default. */
  readonly idempotencyKey?: string | undefined;
  readonly shapeVersion?: number | undefined;
}

export type PushedFile = Delivered & { readonly idempotencyKey: string };

/**
 * Pushes a file as what it is:
 * - a JSON object with `idempotency_key` and `payload` is a push, sent as it is;
 * - a JSON object of texts alone is, when a shape version is given, a payload: it is wrapped into a
 *   push. A document source refuses that before it reads it; then it is sent as a document;
 * - anything else is a document, `.gz` and `.zst` with their content encoding.
 *
 * @throws DeliveryFailed
 */
export async function pushFile(
  to: Ingest,
  path: string,
  options: PushFileOptions = {},
  parts: SenderParts = {},
): Promise<PushedFile> {
  const file = await fileBody(path);
  const content = await readJson(file);
  if (content && 'idempotency_key' in content.value && 'payload' in content.value) {
    requireNoConflict(content.value, options);
    const idempotencyKey = String(content.value.idempotency_key);
    return { ...(await pushEnvelope(to, file, parts)), idempotencyKey };
  }
  const { shapeVersion, idempotencyKey = file.sha256 } = options;
  if (content && isPayload(content.value) && shapeVersion !== undefined) {
    const body = bytesBody(wrapped(content.text, idempotencyKey, shapeVersion));
    try {
      return { ...(await pushEnvelope(to, body, parts)), idempotencyKey };
    } catch (error) {
      if (!isAboutContentType(error)) throw error;
    }
  }
  const what = { idempotencyKey, shapeVersion, encoding: encodingOf(path), body: file };
  return { ...(await pushDocument(to, what, parts)), idempotencyKey };
}

/** Whether the source takes deliveries of another kind than the one that was sent (DECISIONS 6). */
export function isAboutContentType(error: unknown): error is DeliveryFailed {
  const { status, field } = error instanceof DeliveryFailed ? error : {};
  return status === 400 && field === 'Content-Type';
}

interface JsonContent {
  readonly value: Record<string, unknown>;
  readonly text: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a file only when it begins as a JSON object does. */
async function readJson(file: FileBody): Promise<JsonContent | null> {
  const parts: Uint8Array[] = [];
  for await (const part of file.parts()) {
    if (parts.length === 0 && !/^[ \t\r\n]*(\{|$)/.test(Buffer.from(part).toString('latin1'))) {
      return null;
    }
    parts.push(part);
  }
  try {
    const text = utf8.decode(Buffer.concat(parts));
    const value = jsonObject(text);
    return value && { value, text };
  } catch {
    return null;
  }
}

function isPayload(value: Record<string, unknown>): boolean {
  const texts = Object.values(value);
  return texts.length > 0 && texts.every((one) => typeof one === 'string');
}

/** The payload's own text stands in the envelope as it is in the file. */
function wrapped(payload: string, idempotencyKey: string, shapeVersion: number): string {
  const key = JSON.stringify(idempotencyKey);
  return `{"idempotency_key":${key},"shape_version":${shapeVersion},"payload":${payload.trim()}}`;
}

function requireNoConflict(envelope: Record<string, unknown>, options: PushFileOptions): void {
  const { idempotencyKey = envelope.idempotency_key, shapeVersion = envelope.shape_version } =
    options;
  if (idempotencyKey !== envelope.idempotency_key) {
    throw new DeliveryFailed('conflict', 'The file names another idempotency key itself.');
  }
  if (shapeVersion !== envelope.shape_version) {
    throw new DeliveryFailed('conflict', 'The file names another shape version itself.');
  }
}

function encodingOf(path: string): 'gzip' | 'zstd' | undefined {
  if (/\.gz$/i.test(path)) return 'gzip';
  return /\.zst$/i.test(path) ? 'zstd' : undefined;
}
