import type { ArtifactMeta, ArtifactStore } from '../artifacts/artifacts.ts';
import type {
  Catalog,
  Claim,
  KeyHolder,
  KnownDelivery,
  Probe,
  StoredReceipt,
} from '../catalog/catalog.ts';
import type { PushReading } from '../domain/push.ts';
import { receiptJson } from '../domain/receipt.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Reply } from '../http/exchange.ts';
import type { Clock } from '../std/clock.ts';
import { crashPoint } from '../std/crash-point.ts';
import type { BodyEnd, CollectedBody } from './body.ts';

/** What accepting needs of the world. */
export interface AcceptParts {
  readonly catalog: Pick<Catalog, 'lookup' | 'ledger'>;
  readonly artifacts: ArtifactStore;
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
  'catalog' | 'artifacts' | 'newArtifactId' | 'onStored' | 'requireAccepting' | 'log'
>;

/** Everything of a delivery that is known before its bytes are. */
export type DeliveryHead = Omit<ArtifactMeta, 'artifactId'>;

/** The name of a new object: one folder a day, so that no folder grows without end. */
export function objectName(artifactId: string, receivedAt: number): string {
  const day = new Date(receivedAt).toISOString().slice(0, 10).replaceAll('-', '/');
  return `${day}/${artifactId}`;
}

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
 */
export async function recordKept(parts: KeepParts, claim: Claim): Promise<Reply> {
  crashPoint('object_durable');
  const verdict = await parts.catalog.ledger.record(claim);
  if (verdict.outcome === 'stored') {
    crashPoint('receipt_durable');
    parts.onStored();
    return receiptReply(verdict.receipt);
  }
  // A recovery beside us found the object first: it is in use.
  if (verdict.known.receipt.artifactId === claim.artifactId) {
    return receiptReply(verdict.known.receipt);
  }
  crashPoint('race_lost');
  try {
    await parts.artifacts.remove(claim.place.object);
  } catch (err) {
    parts.log.warn({ err, object: claim.place.object }, 'an unreferenced object stays');
  }
  return replayReply(verdict.known);
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
  const artifactId = parts.newArtifactId(head.receivedAt);
  const object = objectName(artifactId, head.receivedAt);
  const upload = parts.artifacts.begin(object, collected.bytes, { ...head, artifactId });
  crashPoint('upload_begun');
  try {
    if (collected.bytes > 0) await upload.write(collected.body);
    crashPoint('bytes_sent');
    await upload.commit(collected.sha256);
  } catch (error) {
    await upload.abort();
    throw error;
  }
  return recordKept(parts, { ...claimOf(head, artifactId, collected), secretId });
}

export function claimOf(head: DeliveryHead, artifactId: string, body: BodyEnd): Claim {
  return {
    artifactId,
    sourceId: head.sourceId,
    sandbox: head.sandbox,
    idempotencyKey: head.idempotencyKey,
    sha256: body.sha256,
    shapeVersion: head.shapeVersion,
    delivery: head.delivery,
    mediaType: head.mediaType,
    encoding: head.encoding,
    bytes: body.bytes,
    receivedAt: head.receivedAt,
    place: { object: objectName(artifactId, head.receivedAt), offset: 0, length: body.bytes },
    secretId: null,
  };
}

function receiptReply(receipt: StoredReceipt): Reply {
  const headers = { 'Content-Type': 'application/json' };
  return { status: 202, headers, body: receiptJson(receipt) };
}

/** Answers a delivery whose key or bytes are known, and records that it came again. */
export async function replayKnown(parts: AcceptParts, probe: Probe, now: number): Promise<Reply> {
  const known = await parts.catalog.ledger.replay(probe, now);
  if (!known) throw new Error('a known delivery is gone');
  return replayReply(known);
}

/** The first receipt again, byte for byte (DECISIONS 5). */
function replayReply(known: KnownDelivery): Reply {
  const first = receiptReply(known.receipt);
  const headers: Record<string, string> = { ...first.headers, 'Idempotency-Replayed': 'true' };
  if (known.bodyDiffers) headers['Idempotency-Body-Differs'] = 'true';
  return { ...first, headers };
}
