import {
  type ArtifactMeta,
  ArtifactMissing,
  type ArtifactStore,
  type StoredBody,
} from '../artifacts/artifacts.ts';
import { type Catalog, CatalogRefusal, type Claim } from '../catalog/catalog.ts';
import { limits } from '../domain/limits.ts';
import { mayBeForgotten, receivedAtOf } from '../domain/recovery.ts';
import { decodeMark, encodeMark, judgeMark, unfitReasons } from '../domain/store-mark.ts';
import { StoredHashes } from './stored-bytes.ts';

export interface RecoverParts {
  readonly artifacts: Pick<ArtifactStore, 'list' | 'contents' | 'read' | 'readMark' | 'writeMark'>;
  readonly catalog: Pick<Catalog, 'upkeep' | 'deliveries' | 'ledger' | 'lookup' | 'directory'>;
  /** Called after each group of deliveries. */
  told?(done: number, of: number): void;
}

export interface Recovery {
  /** The catalog was older than its store, by the store's mark. */
  readonly behind: boolean;
  readonly objects: readonly RecoveredObject[];
}

/**
 * `recovered`: its delivery is in the catalog again. `duplicate`: key or bytes are known, so it
 * had no receipt of its own. `failed`: the reason says why it cannot come back.
 */
export interface RecoveredObject {
  readonly object: string;
  /** Null: the index of a segment cannot be read, so that nobody knows what is in it. */
  readonly artifactId: string | null;
  readonly sourceId: string | null;
  readonly receivedAt: number;
  readonly outcome: 'recovered' | 'duplicate' | 'failed';
  readonly reason: string | null;
}

/** A delivery that the catalog may have forgotten. */
interface Candidate {
  readonly object: string;
  readonly artifactId: string | null;
  readonly receivedAt: number;
}

/**
 * Brings an older catalog up to its artifact store: deliveries that it has forgotten come back
 * from their objects and metadata, in the order in which they were received, through the ledger,
 * as if they were sent again. They are parsed afterwards, as any. Of a segment those come back that
 * the catalog does not know, whether it knows others or not.
 *
 * Ordering: while the catalog is behind, the mark says first that a recovery is under way, so that
 * nothing is accepted before all is back; and last that the catalog is whole. A recovery that is
 * cut short is simply run again. Sequences go on above all that were ever given: the sample store
 * may hold rows of them, which would win over what comes back and what is sent later.
 *
 * @throws Error when the store belongs to another catalog; StoreAway, CatalogAway
 */
export async function recover(parts: RecoverParts): Promise<Recovery> {
  const { artifacts, catalog } = parts;
  const text = await artifacts.readMark();
  const { catalogId, sequence, receivedAt } = await catalog.upkeep.standing();
  const fit = judgeMark(text, { catalogId, sequence });
  if (fit === 'foreign') throw new Error(unfitReasons.foreign);
  const behind = fit !== 'fits';
  const marked = (text === null ? null : decodeMark(text)?.sequence) ?? 0;
  const greatest = Math.max(sequence, marked);
  if (behind) {
    await artifacts.writeMark(encodeMark({ catalogId, sequence: greatest, recovering: true }));
  }
  const forgotten = await findForgotten(parts, receivedAt);
  if (behind || forgotten.length > 0) {
    await catalog.upkeep.raiseSequence(greatest + limits.recoverSequenceGap);
  }
  const objects: RecoveredObject[] = [];
  for (let at = 0; at < forgotten.length; at += limits.recoverAtOnce) {
    objects.push(...(await bringBack(parts, forgotten.slice(at, at + limits.recoverAtOnce))));
    parts.told?.(Math.min(at + limits.recoverAtOnce, forgotten.length), forgotten.length);
  }
  if (behind) {
    const now = await catalog.upkeep.standing();
    const whole = { catalogId, sequence: now.sequence, recovering: false };
    await artifacts.writeMark(encodeMark(whole));
  }
  return { behind, objects };
}

/** Names in one question to the catalog, and indexes read at once. */
const batch = { objects: 1_000, indexes: 16 };

async function findForgotten(parts: RecoverParts, newest: number | null): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const objects: string[] = [];
  const segments: string[] = [];
  const judge = async () => {
    const known = await parts.catalog.deliveries.referenced(objects);
    found.push(...objects.filter((object) => !known.has(object)).map(alone));
    objects.length = 0;
  };
  const judgeSegments = async () => {
    found.push(...(await forgottenOf(parts, segments)));
    segments.length = 0;
  };
  for await (const listed of parts.artifacts.list()) {
    if (!mayBeForgotten(listed, newest)) continue;
    if (listed.isSegment) {
      if (segments.push(listed.object) === batch.indexes) await judgeSegments();
    } else if (objects.push(listed.object) === batch.objects) await judge();
  }
  await judge();
  await judgeSegments();
  const order = (a: string | null, b: string | null) => ((a ?? '') < (b ?? '') ? -1 : 1);
  return found.sort((a, b) => a.receivedAt - b.receivedAt || order(a.artifactId, b.artifactId));
}

function alone(object: string): Candidate {
  const artifactId = object.slice(object.lastIndexOf('/') + 1);
  return { object, artifactId, receivedAt: receivedAtOf(object) };
}

/** What the indexes of segments name and the catalog does not know. */
async function forgottenOf(
  { artifacts, catalog }: RecoverParts,
  segments: readonly string[],
): Promise<Candidate[]> {
  const named = await Promise.all(
    segments.map(async (object): Promise<Candidate[]> => {
      const bodies = await contentsOf(artifacts, object);
      // Told as one that failed, below.
      if ('reason' in bodies) return [{ ...alone(object), artifactId: null }];
      return bodies.map(({ meta: { artifactId, receivedAt } }) => ({
        ...{ object, artifactId, receivedAt },
      }));
    }),
  );
  const all = named.flat();
  const ids = all.flatMap(({ artifactId }) => artifactId ?? []);
  const known = await catalog.deliveries.known(ids);
  return all.filter(({ artifactId }) => artifactId === null || !known.has(artifactId));
}

async function contentsOf(
  artifacts: RecoverParts['artifacts'],
  object: string,
): Promise<readonly StoredBody[] | Failed> {
  try {
    return await artifacts.contents(object);
  } catch (error) {
    if (error instanceof ArtifactMissing) return failed(error.message);
    throw error;
  }
}

/** Reads a group of bodies at once; the ledger takes their claims in order. */
async function bringBack(
  parts: RecoverParts,
  group: readonly Candidate[],
): Promise<RecoveredObject[]> {
  const objects = [...new Set(group.map(({ object }) => object))];
  const contents = new Map(
    await Promise.all(
      objects.map(async (object) => [object, await contentsOf(parts.artifacts, object)] as const),
    ),
  );
  const bodies = group.map((candidate) => bodyOf(candidate, contents.get(candidate.object)!));
  const there = bodies.filter((body): body is StoredBody => !('reason' in body));
  const hashes = new StoredHashes(
    parts.artifacts,
    there.map(({ place }) => place),
  );
  const hashOf = (body: StoredBody) => hashes.of(there.indexOf(body));
  const claims = await Promise.all(
    bodies.map((body) => ('reason' in body ? body : claimOf(parts, body, hashOf))),
  );
  return Promise.all(
    group.map(async (candidate, i) => {
      const one = claims[i]!;
      const { outcome, reason } = 'reason' in one ? one : await record(parts, one.claim);
      return { ...candidate, sourceId: one.meta?.sourceId ?? null, outcome, reason };
    }),
  );
}

interface Failed {
  readonly outcome: 'failed';
  readonly reason: string;
  readonly meta: ArtifactMeta | null;
}

function failed(reason: string, meta: ArtifactMeta | null = null): Failed {
  return { outcome: 'failed', reason, meta };
}

function bodyOf(
  { artifactId }: Candidate,
  contents: readonly StoredBody[] | Failed,
): StoredBody | Failed {
  if ('reason' in contents) return contents;
  const found = contents.find(({ meta }) => meta.artifactId === artifactId);
  return found ?? failed('its metadata is of another object', contents[0]?.meta);
}

async function claimOf(
  parts: RecoverParts,
  body: StoredBody,
  hashOf: (body: StoredBody) => Promise<Buffer>,
): Promise<Failed | { readonly claim: Claim; readonly meta: ArtifactMeta }> {
  const { place, meta } = body;
  try {
    const unknown = await unknownShape(parts, meta);
    if (unknown) return failed(unknown, meta);
    const sha256 = await hashOf(body);
    if (body.sha256 && !body.sha256.equals(sha256)) {
      return failed('the stored bytes are not those that were received', meta);
    }
    return { meta, claim: { ...meta, sha256, bytes: place.length, place, secretId: null } };
  } catch (error) {
    if (error instanceof ArtifactMissing || error instanceof CatalogRefusal) {
      return failed(error.message, meta);
    }
    throw error;
  }
}

async function unknownShape({ catalog }: RecoverParts, meta: ArtifactMeta): Promise<string | null> {
  const { sourceId, shapeVersion } = meta;
  if (await catalog.lookup.shape(sourceId, shapeVersion)) return null;
  return (await catalog.directory.source(sourceId))
    ? `the catalog does not know shape version ${shapeVersion} of its source`
    : 'the catalog does not know its source';
}

type Judged = Pick<RecoveredObject, 'outcome' | 'reason'>;

async function record({ catalog }: RecoverParts, claim: Claim): Promise<Judged> {
  try {
    const verdict = await catalog.ledger.record(claim);
    if (verdict.outcome === 'stored') return { outcome: 'recovered', reason: null };
    const { by, receipt } = verdict.known;
    // A service that accepts beside us was about to record it.
    if (receipt.artifactId === claim.artifactId) return { outcome: 'recovered', reason: null };
    const what = by === 'key' ? 'idempotency key' : 'body';
    return { outcome: 'duplicate', reason: `its ${what} has the receipt ${receipt.artifactId}` };
  } catch (error) {
    if (error instanceof CatalogRefusal) return failed(error.message);
    throw error;
  }
}
