import { type ArtifactMeta, ArtifactMissing, type ArtifactStore } from '../artifacts/artifacts.ts';
import { type Catalog, CatalogRefusal, type Claim } from '../catalog/catalog.ts';
import { limits } from '../domain/limits.ts';
import { mayBeForgotten, receivedAtOf } from '../domain/recovery.ts';
import { decodeMark, encodeMark, judgeMark, unfitReasons } from '../domain/store-mark.ts';
import { hashStored } from './stored-bytes.ts';

export interface RecoverParts {
  readonly artifacts: Pick<
    ArtifactStore,
    'list' | 'meta' | 'read' | 'committedHash' | 'readMark' | 'writeMark'
  >;
  readonly catalog: Pick<Catalog, 'upkeep' | 'deliveries' | 'ledger' | 'lookup' | 'directory'>;
  /** Called after each group of objects. */
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
  readonly artifactId: string;
  readonly sourceId: string | null;
  readonly receivedAt: number;
  readonly outcome: 'recovered' | 'duplicate' | 'failed';
  readonly reason: string | null;
}

interface Candidate {
  readonly object: string;
  readonly bytes: number;
}

/**
 * Brings an older catalog up to its artifact store: deliveries that it has forgotten come back
 * from their objects and metadata, in the order in which they were received, through the ledger,
 * as if they were sent again. They are parsed afterwards, as any.
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

/** Names in one question to the catalog. */
const batchObjects = 1_000;

async function findForgotten(parts: RecoverParts, newest: number | null): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let batch: Candidate[] = [];
  const judge = async () => {
    const names = batch.map(({ object }) => object);
    const known = await parts.catalog.deliveries.referenced(names);
    found.push(...batch.filter(({ object }) => !known.has(object)));
    batch = [];
  };
  for await (const { object, bytes, storedAt } of parts.artifacts.list()) {
    if (!mayBeForgotten({ object, storedAt }, newest)) continue;
    if (batch.push({ object, bytes }) === batchObjects) await judge();
  }
  await judge();
  const order = ({ object }: Candidate) => receivedAtOf(object);
  return found.sort((a, b) => order(a) - order(b) || (a.object < b.object ? -1 : 1));
}

/** Reads a group of objects at once; the ledger takes their claims in order. */
async function bringBack(
  parts: RecoverParts,
  group: readonly Candidate[],
): Promise<RecoveredObject[]> {
  const read = await Promise.all(group.map((candidate) => claimOf(parts, candidate)));
  return Promise.all(
    group.map(async (candidate, i) => {
      const one = read[i]!;
      const judged = 'reason' in one ? one : await record(parts, one.claim);
      const sourceId = one.meta?.sourceId ?? null;
      return { ...named(candidate), sourceId, outcome: judged.outcome, reason: judged.reason };
    }),
  );
}

function named({ object }: Candidate) {
  const artifactId = object.slice(object.lastIndexOf('/') + 1);
  return { object, artifactId, receivedAt: receivedAtOf(object) };
}

interface Failed {
  readonly outcome: 'failed';
  readonly reason: string;
  readonly meta: ArtifactMeta | null;
}

function failed(reason: string, meta: ArtifactMeta | null = null): Failed {
  return { outcome: 'failed', reason, meta };
}

async function claimOf(
  parts: RecoverParts,
  candidate: Candidate,
): Promise<Failed | { readonly claim: Claim; readonly meta: ArtifactMeta }> {
  const { object, bytes } = candidate;
  let meta: ArtifactMeta | null = null;
  try {
    meta = await parts.artifacts.meta(object);
    if (!meta) return failed('the object is gone');
    if (meta.artifactId !== named(candidate).artifactId) {
      return failed('its metadata is of another object', meta);
    }
    const unknown = await unknownShape(parts, meta);
    if (unknown) return failed(unknown, meta);
    const place = { object, offset: 0, length: bytes };
    const sha256 = await hashStored(parts.artifacts, place);
    const committed = await parts.artifacts.committedHash(object);
    if (committed && !committed.equals(sha256)) {
      return failed('the stored bytes are not those that were received', meta);
    }
    return { meta, claim: { ...meta, sha256, bytes, place, secretId: null } };
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
