import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { DeliveryFailed } from './failure.ts';

/** The most that the service takes (specification, "Limits"). */
export const deliveryBytesMax = 8_388_608;

/** What is sent: read anew for each attempt, the same bytes each time. */
export interface Body {
  readonly bytes: number;
  parts(): AsyncIterable<Uint8Array>;
}

/** @throws DeliveryFailed `too_large` */
export function bytesBody(content: Uint8Array | string): Body {
  const whole = typeof content === 'string' ? Buffer.from(content) : content;
  requireSize(whole.length);
  return {
    bytes: whole.length,
    async *parts() {
      for (let at = 0; at < whole.length; at += partBytes) yield whole.subarray(at, at + partBytes);
    },
  };
}

const partBytes = 64 * 1024;

/** A file that stays on disk; a part of it is in memory at a time. */
export interface FileBody extends Body {
  readonly path: string;
  /** Of its content, lowercase hex. */
  readonly sha256: string;
}

/**
 * Takes a file as a body and reads it once, for its hash.
 *
 * @throws DeliveryFailed `unreadable`, `too_large`; later, out of `parts`, `file_changed`
 */
export async function fileBody(path: string): Promise<FileBody> {
  const first = await withFile(path, (file) => file.stat());
  if (!first.isFile()) throw new DeliveryFailed('unreadable', `${path} is no regular file.`);
  requireSize(first.size);
  const body = { path, bytes: first.size, parts: () => partsOf(path, first) };
  const hash = createHash('sha256');
  for await (const part of body.parts()) hash.update(part);
  return { ...body, sha256: hash.digest('hex') };
}

interface FileState {
  readonly size: number;
  readonly mtimeMs: number;
}

async function* partsOf(path: string, first: FileState): AsyncIterable<Uint8Array> {
  const file = await openFile(path);
  try {
    const now = await file.stat();
    if (now.size !== first.size || now.mtimeMs !== first.mtimeMs) throw changed(path);
    for (let at = 0; at < first.size; ) {
      // A part is still in use when the next one is read: each has memory of its own.
      const part = Buffer.allocUnsafe(Math.min(partBytes, first.size - at));
      const { bytesRead } = await file.read(part, 0, part.length, at).catch((cause: unknown) => {
        throw unreadable(cause);
      });
      if (bytesRead === 0) throw changed(path);
      yield part.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

function unreadable(cause: unknown): DeliveryFailed {
  const message = `The file cannot be read: ${(cause as Error).message}.`;
  return new DeliveryFailed('unreadable', message, { cause });
}

function changed(path: string): DeliveryFailed {
  return new DeliveryFailed('file_changed', `${path} was changed while it was being sent.`);
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await openFile(path);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (cause) {
    throw unreadable(cause);
  }
}

function requireSize(bytes: number): void {
  if (bytes <= deliveryBytesMax) return;
  const message = `${bytes} bytes are more than the ${deliveryBytesMax} of one delivery.`;
  const advice = 'Split it into smaller deliveries, each with its own idempotency key.';
  throw new DeliveryFailed('too_large', `${message} ${advice}`);
}
