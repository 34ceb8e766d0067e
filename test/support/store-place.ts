import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { v7 } from 'uuid';
import { claimOf, objectName } from '../../src/accept/keep.ts';
import type { ArtifactMeta, ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { seedSource } from '../catalog/support.ts';

/** A delivery's object in the store. */
export interface StoredObject {
  readonly object: string;
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

  /** Stores an object that the catalog does not know. */
  async object(receivedAt: number, over: Partial<ArtifactMeta> = {}): Promise<StoredObject> {
    const artifactId = v7({ msecs: receivedAt });
    const meta: ArtifactMeta = {
      ...{ artifactId, receivedAt, sourceId: this.sourceId, sandbox: false, shapeVersion: 1 },
      ...{ idempotencyKey: artifactId, delivery: 'push', encoding: 'identity' },
      mediaType: 'application/json',
      ...over,
    };
    return this.put(meta, Buffer.from(`the body of ${artifactId}`));
  }

  async put(meta: ArtifactMeta, body: Buffer): Promise<StoredObject> {
    const object = objectName(v7({ msecs: meta.receivedAt }), meta.receivedAt);
    const name = object.replace(/[^/]+$/, meta.artifactId);
    const sha256 = createHash('sha256').update(body).digest();
    const upload = this.artifacts.begin(name, body.length, meta);
    await upload.write(body);
    await upload.commit(sha256);
    return { object: name, meta, sha256, bytes: body.length };
  }

  /** Stores a delivery as the service does. @returns it with its sequence */
  async delivery(receivedAt: number): Promise<StoredObject & { readonly sequence: number }> {
    const stored = await this.object(receivedAt);
    const { meta, sha256, bytes } = stored;
    const claim = claimOf(meta, meta.artifactId, { sha256, bytes });
    const verdict = await this.catalog.ledger.record(claim);
    if (verdict.outcome !== 'stored') throw new Error('the delivery is known');
    return { ...stored, sequence: verdict.sequence };
  }

  path(object: string): string {
    return join(this.dir, 'artifacts', object);
  }

  /** Flips one bit of a stored body. */
  async flipBit(object: string): Promise<void> {
    const bytes = await readFile(this.path(object));
    bytes[bytes.length >> 1]! ^= 1;
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
