import type { ArtifactMeta, ArtifactStore } from '../artifacts/artifacts.ts';
import { objectName } from '../artifacts/object-name.ts';
import {
  type Catalog,
  CatalogFull,
  type Claim,
  type KeyHolder,
  type KnownDelivery,
  type Probe,
  type StoredReceipt,
} from '../catalog/catalog.ts';
import { limits } from '../domain/limits.ts';
import type { ArtifactPlace } from '../domain/nouns.ts';
import type { PushReading } from '../domain/push.ts';
import { receiptJson } from '../domain/receipt.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { ReceiptOf, Reply } from '../http/exchange.ts';
import type { Clock } from '../std/clock.ts';
import { crashPoint } from '../std/crash-point.ts';
import type { CollectedBody } from './body.ts';
import type { Kept, Segments } from './segments.ts';

/** What accepting needs of the world. */
export interface AcceptParts {
  readonly catalog: Pick<Catalog, 'lookup' | 'ledger'>;
  readonly artifacts: ArtifactStore;
  /** Keeps small bodies in the same store. */
  readonly segments: Pick<Segments, 'keep'>;
  readonly budget: ByteBudget;
  readonly clock: Clock;
  /** A new uuid v7. */
  newArtifactId(now: number): string;
  /** Reads a large push off the event loop. */
  readLargePush(body: Buffer, required: readonly string[] | null): Promise<PushReading>;
  /** A delivery was stored and waits to be parsed. */
  onStored(): void;
  /** @throws ApiError 503 while no new delivery may be accepted; known ones are still answered */
  requireAccepting(): void;
  readonly log: { warn(fields: object, message: string): void };
}

/** What keeping a delivery needs of that. */
export type KeepParts = Pick<
  AcceptParts,
  'catalog' | 'artifacts' | 'segments' | 'newArtifactId' | 'onStored' | 'requireAccepting' | 'log'
>;

/** Everything of a delivery that is known before its bytes are. */
export type DeliveryHead = Omit<ArtifactMeta, 'artifactId'>;

export function deliveryHead(
  holder: KeyHolder,
  about: Pick<DeliveryHead, 'idempotencyKey' | 'shapeVersion' | 'mediaType' | 'encoding'>,
  now: number,
): DeliveryHead {
  return {
    sourceId: holder.source.sourceId,
    sandbox: holder.key.sandbox,
    delivery: holder.source.delivery,
    receivedAt: now,
    // One by one: callers hand in more, and all of it would be written beside the body.
    idempotencyKey: about.idempotencyKey,
    shapeVersion: about.shapeVersion,
    mediaType: about.mediaType,
    encoding: about.encoding,
  };
}

/**
 * Gives the receipt for bytes that are durable.
 *
 * Ordering: the object is durable (its upload was committed) → one catalog transaction claims key,
 * hash, sequence and receipt and is durable → the caller answers 202. A crash before the
 * transaction leaves an object that nothing refers to, never a receipt without bytes.
 *
 * Failure: when the transaction's outcome is not known, the object stays: it may be referred to.
 * So does a segment that others use: the bytes in it that nothing refers to stay there. A catalog
 * that is full has done nothing, and the object goes: senders who repeat would fill the store, too.
 */
export async function recordKept(parts: KeepParts, claim: Claim, kept: Kept): Promise<Reply> {
  crashPoint('object_durable');
  const verdict = await parts.catalog.ledger.record(claim).catch(async (error) => {
    if (error instanceof CatalogFull) await abandon(parts, kept);
    throw error;
  });
  if (verdict.outcome === 'stored') {
    crashPoint('receipt_durable');
    parts.onStored();
    return receiptReply(verdict.receipt, claim);
  }
  // A recovery beside us found the object first: it is in use.
  if (verdict.known.receipt.artifactId === claim.artifactId) {
    return receiptReply(verdict.known.receipt, claim);
  }
  crashPoint('race_lost');
  await abandon(parts, kept);
  return replayReply(verdict.known);
}

async function abandon({ log }: KeepParts, kept: Kept): Promise<void> {
  try {
    await kept.abandon();
  } catch (err) {
    log.warn({ err, object: kept.place.object }, 'an unreferenced object stays');
  }
}

/**
 * Stores a body that was judged as a whole, and gives its receipt.
 *
 * @param secretId of a webhook: the secret that verified it
 */
export async function keepBody(
  parts: KeepParts,
  head: DeliveryHead,
  collected: CollectedBody,
  secretId: string | null = null,
): Promise<Reply> {
  parts.requireAccepting();
  const meta = { ...head, artifactId: parts.newArtifactId(head.receivedAt) };
  const { body, sha256 } = collected;
  const kept =
    body.length <= limits.segmentBodyBytesMax
      ? await parts.segments.keep({ meta, body, sha256 })
      : await keepAlone(parts, meta, collected);
  return recordKept(parts, { ...claimOf(meta, kept.place, sha256), secretId }, kept);
}

async function keepAlone(
  { artifacts }: KeepParts,
  meta: ArtifactMeta,
  { body, sha256 }: CollectedBody,
): Promise<Kept> {
  const place = placeAlone(meta, body.length);
  const upload = artifacts.begin(place.object, body.length, meta);
  crashPoint('upload_begun');
  try {
    await upload.write(body);
    crashPoint('bytes_sent');
    await upload.commit(sha256);
  } catch (error) {
    await upload.abort();
    throw error;
  }
  return keptAlone(artifacts, place);
}

/** Bytes in an object of their own. */
export function keptAlone(artifacts: Pick<ArtifactStore, 'remove'>, place: ArtifactPlace): Kept {
  return { place, abandon: () => artifacts.remove(place.object) };
}

/** The place of a body that has an object of its own. */
export function placeAlone(
  { artifactId, receivedAt }: Pick<ArtifactMeta, 'artifactId' | 'receivedAt'>,
  length: number,
): ArtifactPlace {
  return { object: objectName(artifactId, receivedAt), offset: 0, length };
}

export function claimOf(meta: ArtifactMeta, place: ArtifactPlace, sha256: Buffer): Claim {
  return {
    artifactId: meta.artifactId,
    sourceId: meta.sourceId,
    sandbox: meta.sandbox,
    idempotencyKey: meta.idempotencyKey,
    sha256,
    shapeVersion: meta.shapeVersion,
    delivery: meta.delivery,
    mediaType: meta.mediaType,
    encoding: meta.encoding,
    bytes: place.length,
    receivedAt: meta.receivedAt,
    place,
    secretId: null,
  };
}

function receiptReply(receipt: StoredReceipt, receiptOf: ReceiptOf): Reply {
  const headers = { 'Content-Type': 'application/json' };
  return { status: 202, headers, body: receiptJson(receipt), receiptOf };
}

/** Answers a delivery whose key or bytes are known, and records that it came again. */
export async function replayKnown(parts: AcceptParts, probe: Probe, now: number): Promise<Reply> {
  const known = await parts.catalog.ledger.replay(probe, now);
  if (!known) throw new Error('a known delivery is gone');
  return replayReply(known);
}

/** The first receipt again, byte for byte (DECISIONS 5). */
function replayReply(known: KnownDelivery): Reply {
  const first = receiptReply(known.receipt, known.receipt);
  const headers: Record<string, string> = { ...first.headers, 'Idempotency-Replayed': 'true' };
  if (known.bodyDiffers) headers['Idempotency-Body-Differs'] = 'true';
  return { ...first, headers };
}
