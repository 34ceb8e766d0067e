import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { v7 } from 'uuid';
import { claimOf, placeAlone } from '../../src/accept/keep.ts';
import { Segments } from '../../src/accept/segments.ts';
import type { ArtifactMeta, ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Catalog, Verdict } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import type { ArtifactPlace } from '../../src/domain/nouns.ts';
import { seedSource } from '../catalog/support.ts';

/** A delivery's bytes in the store. */
export interface StoredObject {
  readonly object: string;
  readonly place: ArtifactPlace;
  readonly meta: ArtifactMeta;
  readonly sha256: Buffer;
  readonly bytes: number;
}

/** A catalog with one source, and the directory with its artifacts: without a service. */
export class StorePlace {
  readonly dir: string;
  readonly artifacts: ArtifactStore;
  readonly catalog: Catalog;
  readonly sourceId: string;

  private constructor(dir: string, artifacts: ArtifactStore, catalog: Catalog, sourceId: string) {
    this.dir = dir;
    this.artifacts = artifacts;
    this.catalog = catalog;
    this.sourceId = sourceId;
  }

  static async open(): Promise<StorePlace> {
    const dir = await mkdtemp(join(tmpdir(), 'weir-store-'));
    const artifacts = openArtifacts(pathToFileURL(join(dir, 'artifacts')).href);
    await artifacts.prepare();
    const catalog = await openCatalog(sqliteUrl(join(dir, 'catalog.db')), { thread: false });
    const { sourceId } = await seedSource(catalog);
    return new StorePlace(dir, artifacts, catalog, sourceId);
  }

  async close(): Promise<void> {
    await this.catalog.close();
    await this.artifacts.close();
    await rm(this.dir, { recursive: true });
  }

  #metaOf(receivedAt: number, over: Partial<ArtifactMeta>): ArtifactMeta {
    const artifactId = v7({ msecs: receivedAt });
    return {
      ...{ artifactId, receivedAt, sourceId: this.sourceId, sandbox: false, shapeVersion: 1 },
      ...{ idempotencyKey: artifactId, delivery: 'push', encoding: 'identity' },
      mediaType: 'application/json',
      ...over,
    };
  }

  /** Stores an object that the catalog does not know. */
  async object(receivedAt: number, over: Partial<ArtifactMeta> = {}): Promise<StoredObject> {
    const meta = this.#metaOf(receivedAt, over);
    return this.put(meta, Buffer.from(`the body of ${meta.artifactId}`));
  }

  async put(meta: ArtifactMeta, body: Buffer): Promise<StoredObject> {
    const place = placeAlone(meta, body.length);
    const { object } = place;
    const sha256 = createHash('sha256').update(body).digest();
    const upload = this.artifacts.begin(object, body.length, meta);
    await upload.write(body);
    await upload.commit(sha256);
    return { object, place, meta, sha256, bytes: body.length };
  }

  /** Stores bodies in one segment, that the catalog does not know. */
  async segment(
    of: readonly { readonly receivedAt: number; readonly over?: Partial<ArtifactMeta> }[],
  ): Promise<StoredObject[]> {
    const newArtifactId = (msecs: number) => v7({ msecs });
    const segments = new Segments({ artifacts: this.artifacts, newArtifactId });
    return Promise.all(
      of.map(async ({ receivedAt, over = {} }) => {
        const meta = this.#metaOf(receivedAt, over);
        const body = Buffer.from(`the body of ${meta.artifactId}`);
        const sha256 = createHash('sha256').update(body).digest();
        const { place } = await segments.keep({ meta, body, sha256 });
        return { object: place.object, place, meta, sha256, bytes: body.length };
      }),
    );
  }

  /** Gives the receipt of what is stored. */
  record({ meta, place, sha256 }: StoredObject): Promise<Verdict> {
    return this.catalog.ledger.record(claimOf(meta, place, sha256));
  }

  /** Stores a delivery as the service does. @returns it with its sequence */
  async delivery(receivedAt: number): Promise<StoredObject & { readonly sequence: number }> {
    const stored = await this.object(receivedAt);
    const verdict = await this.record(stored);
    if (verdict.outcome !== 'stored') throw new Error('the delivery is known');
    return { ...stored, sequence: verdict.sequence };
  }

  path(object: string): string {
    return join(this.dir, 'artifacts', object);
  }

  /** Flips one bit of an object, in the middle of it or where it is said. */
  async flipBit(object: string, at?: number): Promise<void> {
    const bytes = await readFile(this.path(object));
    bytes[at ?? bytes.length >> 1]! ^= 1;
    await writeFile(this.path(object), bytes);
  }

  /** Makes an object look as if it was stored at another time. */
  async storedAt(object: string, time: number): Promise<void> {
    await utimes(this.path(object), time / 1_000, time / 1_000);
  }

  /** A source that the catalog does not have. */
  strangeSource(): string {
    return randomUUID();
  }
}

export const quiet = { info() {}, warn() {}, error() {} };
