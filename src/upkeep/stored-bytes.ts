import { createHash } from 'node:crypto';
import { ArtifactMissing, type ArtifactStore } from '../artifacts/artifacts.ts';
import { TogetherReads } from '../artifacts/together.ts';
import type { Damage, StoredArtifact } from '../catalog/upkeep-contract.ts';
import { limits } from '../domain/limits.ts';
import type { ArtifactPlace } from '../domain/nouns.ts';

/**
 * The SHA-256 of stored bodies, asked for one by one in the order of a list. Neighbours in a
 * segment are read at once, large bodies in pieces. Throws as `ArtifactStore.read` does.
 */
export class StoredHashes {
  readonly #artifacts: Pick<ArtifactStore, 'read'>;
  readonly #places: readonly ArtifactPlace[];
  readonly #reads: TogetherReads;

  constructor(artifacts: Pick<ArtifactStore, 'read'>, places: readonly ArtifactPlace[]) {
    this.#artifacts = artifacts;
    this.#places = places;
    this.#reads = new TogetherReads(artifacts, places);
  }

  /** @param at its position in the list; each is asked for once */
  async of(at: number): Promise<Buffer> {
    const place = this.#places[at];
    if (!place || place.length <= limits.togetherBytesMax) {
      return createHash('sha256')
        .update(await this.#reads.body(at))
        .digest();
    }
    const hash = createHash('sha256');
    for await (const piece of await this.#artifacts.read(place)) hash.update(piece as Buffer);
    return hash.digest();
  }
}

/** @throws StoreAway when the store cannot tell now */
export async function damageOf(
  artifacts: Pick<ArtifactStore, 'read'>,
  stored: Pick<StoredArtifact, 'place' | 'sha256'>,
): Promise<Damage | null> {
  return damageBy(stored.sha256, () => new StoredHashes(artifacts, [stored.place]).of(0));
}

/**
 * @param sha256 hex, of the receipt
 * @param hash of the stored bytes
 * @throws StoreAway when the store cannot tell now
 */
export async function damageBy(
  sha256: string,
  hash: () => Promise<Buffer>,
): Promise<Damage | null> {
  try {
    const found = await hash();
    return found.toString('hex') === sha256 ? null : 'changed';
  } catch (error) {
    if (error instanceof ArtifactMissing) return 'missing';
    throw error;
  }
}
