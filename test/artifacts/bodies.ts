import { createHash, randomUUID } from 'node:crypto';
import {
  type ArtifactMeta,
  ArtifactMissing,
  type ArtifactStore,
  type Upload,
} from '../../src/artifacts/artifacts.ts';
import type { ArtifactPlace } from '../../src/domain/nouns.ts';
import { someMeta } from './some-meta.ts';

/** A name that was never used before. */
export function newObject(): string {
  return `2026/11/20/${randomUUID()}`;
}

/** A body made from its object's name: any process can tell whether it is whole. */
export function bodyOf(object: string, length: number): Buffer {
  return Buffer.alloc(length, createHash('sha256').update(object).digest());
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Writes a body in pieces of `pieceBytes`, one after another. */
export async function writeAll(upload: Upload, body: Buffer, pieceBytes = 65_537): Promise<void> {
  for (let at = 0; at < body.length; at += pieceBytes) {
    await upload.write(body.subarray(at, at + pieceBytes));
  }
}

/** Stores a body under a new name, or the one given. */
export async function put(store: ArtifactStore, body: Buffer, object = newObject()) {
  const meta = someMeta();
  const upload = store.begin(object, body.length, meta);
  await writeAll(upload, body);
  await upload.commit(sha256(body));
  return { object, meta };
}

export async function readAll(store: ArtifactStore, place: ArtifactPlace): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.read(place)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The names of all objects, sorted. */
export async function namesIn(store: ArtifactStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { object } of store.list()) names.push(object);
  return names.sort();
}

/** What a promise rejects with. */
export async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('it did not fail');
    },
    (error) => error,
  );
}

/** The metadata of an object that holds one body; null when it is not there. */
export async function metaOf(store: ArtifactStore, object: string): Promise<ArtifactMeta | null> {
  try {
    const bodies = await store.contents(object);
    if (bodies.length !== 1) throw new Error(`${object} holds ${bodies.length} bodies`);
    return bodies[0]!.meta;
  } catch (error) {
    if (error instanceof ArtifactMissing) return null;
    throw error;
  }
}
