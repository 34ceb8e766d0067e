import type { KeyHolder } from '../catalog/catalog.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { ShapeVersion } from '../domain/nouns.ts';
import { type PushProblem, type PushReading, readPush } from '../domain/push.ts';
import type { Reply } from '../http/exchange.ts';
import type { Framing } from '../http/framing.ts';
import type { Body, CollectedBody } from './body.ts';
import { emptyBody } from './checks.ts';
import { holdBody } from './held-body.ts';
import { type AcceptParts, deliveryHead, keepBody, replayKnown } from './keep.ts';

export interface PushRequest {
  readonly holder: KeyHolder;
  readonly body: Body;
  readonly framing: Framing;
  readonly now: number;
}

/**
 * Takes one JSON push. Its body is judged before it is stored, so it is held within the byte
 * budget; one over `jsonInlineBytesMax` is read off the event loop.
 */
export async function takePush(parts: AcceptParts, request: PushRequest): Promise<Reply> {
  const held = await holdBody(parts.budget, request.body, request.framing);
  try {
    if (held.bytes === 0) throw emptyBody();
    return await judge(parts, request, held);
  } finally {
    held.release();
  }
}

async function judge(
  parts: AcceptParts,
  request: PushRequest,
  collected: CollectedBody,
): Promise<Reply> {
  const { lookup } = parts.catalog;
  const { source } = request.holder;
  const current = await lookup.shape(source.sourceId, source.shapeVersion);
  const reading = await read(parts, collected.body, current);
  if (reading.kind === 'unreadable') throw refusal(reading.problem);
  const about = { mediaType: 'application/json', encoding: 'identity' } as const;
  const { idempotencyKey } = reading;
  const headOf = (shapeVersion: number) =>
    deliveryHead(request.holder, { ...about, idempotencyKey, shapeVersion }, request.now);

  // A known key answers before shape version and payload are judged (DECISIONS 5).
  const probe = { ...headOf(source.shapeVersion), sha256: collected.sha256 };
  const known = await lookup.known(probe);
  if (known?.by === 'key') return replayKnown(parts, probe, request.now);
  const shapeVersion = await judgeShape(parts, request, collected, reading, current);
  if (known) return replayKnown(parts, probe, request.now);
  return keepBody(parts, headOf(shapeVersion), collected);
}

function read(
  parts: AcceptParts,
  body: Buffer,
  shape: ShapeVersion | null,
): PushReading | Promise<PushReading> {
  const required = shape && requiredNames(shape);
  return body.length <= limits.jsonInlineBytesMax
    ? readPush(body, required)
    : parts.readLargePush(body, required);
}

/** @returns the version named, which exists and whose required fields the payload holds */
async function judgeShape(
  parts: AcceptParts,
  request: PushRequest,
  collected: CollectedBody,
  reading: PushReading & { kind: 'envelope' },
  current: ShapeVersion | null,
): Promise<number> {
  const named = reading.shapeVersion;
  if (typeof named !== 'number') throw refusal(named);
  let judged = reading;
  if (named !== current?.version) {
    const shape = await parts.catalog.lookup.shape(request.holder.source.sourceId, named);
    if (!shape) throw invalid('shape_version', 'The source has no such shape version.');
    const again = await read(parts, collected.body, shape);
    if (again.kind !== 'envelope') throw new Error('a body reads differently the second time');
    judged = again;
  }
  if (judged.payloadProblem) throw refusal(judged.payloadProblem);
  return named;
}

function requiredNames(shape: ShapeVersion): string[] {
  return shape.fields.filter((field) => field.required !== false).map((field) => field.name);
}

function refusal(problem: PushProblem) {
  return invalid(problem.field, problem.message);
}
