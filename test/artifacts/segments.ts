import { randomUUID } from 'node:crypto';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { segmentName } from '../../src/artifacts/object-name.ts';
import { encodeSegment, type WholeBody } from '../../src/artifacts/segment.ts';
import { bodyOf, newObject, sha256 } from './bodies.ts';
import { someMeta } from './some-meta.ts';

/** So many bodies of different bytes. */
export function wholeBodies(count: number, length = 1_000): WholeBody[] {
  return Array.from({ length: count }, () => {
    const artifactId = randomUUID();
    const body = bodyOf(artifactId, length);
    return { meta: someMeta({ artifactId }), body, sha256: sha256(body) };
  });
}

/** Stores bodies in one segment. */
export async function putSegment(store: ArtifactStore, bodies: readonly WholeBody[]) {
  const object = segmentName(newObject());
  const { bytes, places } = encodeSegment(object, bodies);
  const upload = store.begin(object, bytes.length, null);
  await upload.write(bytes);
  await upload.commit(sha256(bytes));
  return { object, bytes, places };
}
