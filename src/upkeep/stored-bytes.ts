import { createHash } from 'node:crypto';
import { ArtifactMissing, type ArtifactStore } from '../artifacts/artifacts.ts';
import type { Damage, StoredArtifact } from '../catalog/upkeep-contract.ts';
import type { ArtifactPlace } from '../domain/nouns.ts';

/** The SHA-256 of stored bytes, read in pieces. Throws as `ArtifactStore.read` does. */
export async function hashStored(
  artifacts: Pick<ArtifactStore, 'read'>,
  place: ArtifactPlace,
): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of await artifacts.read(place)) hash.update(piece as Buffer);
  return hash.digest();
}

/** @throws StoreAway when the store cannot tell now */
export async function damageOf(
  artifacts: Pick<ArtifactStore, 'read'>,
  { place, sha256 }: StoredArtifact,
): Promise<Damage | null> {
  try {
    const found = await hashStored(artifacts, place);
    return found.toString('hex') === sha256 ? null : 'changed';
  } catch (error) {
    if (error instanceof ArtifactMissing) return 'missing';
    throw error;
  }
}
