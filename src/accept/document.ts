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
  keepBody,
  keptAlone,
  placeAlone,
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
  const { framing } = request;
  if (framing.kind === 'chunked' || framing.bytes <= limits.segmentBodyBytesMax) {
    return takeHeld(parts, request, head);
  }
  return takeStreamed(parts, request, framing.bytes, head);
}

/**
 * A small body is kept with others, so that it is held until it is complete. So is one without a
 * length: stores must be told a length first.
 */
async function takeHeld(
  parts: AcceptParts,
  { body, framing, now }: DocumentRequest,
  head: DeliveryHead,
): Promise<Reply> {
  const held = await holdBody(parts.budget, body, framing);
  try {
    if (held.bytes === 0) throw emptyBody();
    const probe = { ...head, sha256: held.sha256 };
    if (await parts.catalog.lookup.known(probe)) return await replayKnown(parts, probe, now);
    return await keepBody(parts, head, held);
  } finally {
    held.release();
  }
}

async function takeStreamed(
  parts: AcceptParts,
  request: DocumentRequest,
  bytes: number,
  head: DeliveryHead,
): Promise<Reply> {
  const meta = { ...head, artifactId: parts.newArtifactId(request.now) };
  const place = placeAlone(meta, bytes);
  const upload = parts.artifacts.begin(place.object, bytes, meta);
  let end: BodyEnd;
  try {
    end = await sendUp(parts, request.body, upload, bytes);
    const probe = { ...head, sha256: end.sha256 };
    if (await parts.catalog.lookup.known(probe)) {
      await upload.abort();
      return await replayKnown(parts, probe, request.now);
    }
    crashPoint('bytes_sent');
    await upload.commit(end.sha256);
  } catch (error) {
    await upload.abort();
    throw error;
  }
  return recordKept(parts, claimOf(meta, place, end.sha256), keptAlone(parts.artifacts, place));
}

/** Sends the body to the store; the upload stays open for the verdict. */
async function sendUp(
  parts: AcceptParts,
  body: Body,
  upload: Upload,
  bytes: number,
): Promise<BodyEnd> {
  const bytesAhead = Math.min(bytes, limits.uploadBytesAheadMax);
  const release = await parts.budget.take(bytesAhead, body);
  crashPoint('upload_begun');
  return await body.read((chunk) => upload.write(chunk)).finally(release);
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
