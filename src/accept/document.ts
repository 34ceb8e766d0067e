import type { Upload } from '../artifacts/artifacts.ts';
import type { KeyHolder } from '../catalog/catalog.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { ContentEncoding } from '../domain/nouns.ts';
import type { Reply } from '../http/exchange.ts';
import type { Framing } from '../http/framing.ts';
import { crashPoint } from '../std/crash-point.ts';
import type { Body, BodyEnd } from './body.ts';
import { emptyBody } from './checks.ts';
import { holdBody } from './held-body.ts';
import {
  type AcceptParts,
  claimOf,
  type DeliveryHead,
  deliveryHead,
  objectName,
  recordKept,
  replayKnown,
} from './keep.ts';

export interface DocumentRequest {
  readonly holder: KeyHolder;
  readonly body: Body;
  readonly framing: Framing;
  readonly now: number;
  readonly idempotencyKey: string;
  readonly shapeVersion: number;
  readonly encoding: ContentEncoding;
}

/**
 * Takes one document: its bytes flow to the artifact store while they are hashed, and the upload
 * is completed only when neither its key nor its bytes are known (DECISIONS 5).
 *
 * Nothing is claimed before the body is complete, so that a sender who hangs does not block the
 * retry. A sender who goes away leaves nothing.
 */
export async function takeDocument(parts: AcceptParts, request: DocumentRequest): Promise<Reply> {
  const { lookup } = parts.catalog;
  const head = deliveryHead(
    request.holder,
    { ...request, mediaType: 'application/octet-stream' },
    request.now,
  );
  if (await lookup.keyIsKnown(head)) return replayAfterReading(parts, request, head);
  const shape = await lookup.shape(head.sourceId, head.shapeVersion);
  if (!shape) {
    throw invalid('X-Service-Shape-Version', 'The source has no such shape version.');
  }
  parts.requireAccepting();
  const artifactId = parts.newArtifactId(request.now);
  const { upload, end } = await sendUp(parts, request, { ...head, artifactId });
  try {
    if (end.bytes === 0) throw emptyBody();
    const probe = { ...head, sha256: end.sha256 };
    if (await lookup.known(probe)) {
      await upload.abort();
      return await replayKnown(parts, probe, request.now);
    }
    crashPoint('bytes_sent');
    await upload.commit(end.sha256);
  } catch (error) {
    await upload.abort();
    throw error;
  }
  return recordKept(parts, claimOf(head, artifactId, end));
}

/** A known key needs no upload: the body is only hashed, to tell whether it differs. */
async function replayAfterReading(
  parts: AcceptParts,
  request: DocumentRequest,
  head: DeliveryHead,
): Promise<Reply> {
  const end = await request.body.read(async () => {});
  return replayKnown(parts, { ...head, sha256: end.sha256 }, request.now);
}

type ToSend = DeliveryHead & { readonly artifactId: string };

/** Sends the body to the store; the upload stays open for the verdict. */
async function sendUp(
  parts: AcceptParts,
  request: DocumentRequest,
  meta: ToSend,
): Promise<{ upload: Upload; end: BodyEnd }> {
  const { framing, body } = request;
  const object = objectName(meta.artifactId, meta.receivedAt);
  if (framing.kind === 'chunked') return sendUpHeld(parts, request, object, meta);
  const bytesAhead = Math.min(framing.bytes, limits.uploadBytesAheadMax);
  const release = await parts.budget.take(bytesAhead, body);
  const upload = parts.artifacts.begin(object, framing.bytes, meta);
  crashPoint('upload_begun');
  try {
    const end = await body.read((bytes) => upload.write(bytes));
    return { upload, end };
  } catch (error) {
    await upload.abort();
    throw error;
  } finally {
    release();
  }
}

/** Stores must be told a length first, so a body without one is held until it is complete. */
async function sendUpHeld(
  parts: AcceptParts,
  { body, framing }: DocumentRequest,
  object: string,
  meta: ToSend,
): Promise<{ upload: Upload; end: BodyEnd }> {
  const end = await holdBody(parts.budget, body, framing);
  try {
    if (end.bytes === 0) throw emptyBody();
    const upload = parts.artifacts.begin(object, end.bytes, meta);
    crashPoint('upload_begun');
    try {
      await upload.write(end.body);
    } catch (error) {
      await upload.abort();
      throw error;
    }
    return { upload, end };
  } finally {
    end.release();
  }
}
