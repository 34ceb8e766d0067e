import { createHash } from 'node:crypto';
import { limits } from '../domain/limits.ts';
import type { ArtifactPlace } from '../domain/nouns.ts';
import { assert } from '../std/assert.ts';
import { type ArtifactMeta, ArtifactMissing, type StoredBody } from './artifacts.ts';
import { assertMeta, checkedMeta } from './checked-meta.ts';
import { isSegmentName } from './object-name.ts';

/**
 * A segment is an object that several small deliveries share. Version 1:
 *
 *     bodies   one after another from offset 0, byte for byte, nothing between them
 *     index    JSON lines in UTF-8, one for each body in their order: its `ArtifactMeta`, `offset`,
 *              `length` and `sha256` (hex, of the body)
 *     footer   56 bytes, numbers unsigned and big-endian:
 *               0  32  SHA-256 of the index, followed by the rest of this footer
 *              32   4  version: 1
 *              36   4  number of bodies
 *              40   4  bytes of all bodies
 *              44   4  bytes of the index
 *              48   8  `weir-seg`
 *
 * A reader who knows the end of the object finds all of it. Nothing in it is believed before the
 * hash holds, the lengths add up to the object, and each body begins where the one before it ends.
 */
const version = 1;
const magic = Buffer.from('weir-seg');
const hashBytes = 32;
const footerBytes = 56;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The index of a segment of usual size is in the last bytes that are read first. */
const tailBytes = 64 * 1024;

/** A body that is known as a whole. */
export interface WholeBody {
  readonly meta: ArtifactMeta;
  readonly body: Buffer;
  readonly sha256: Buffer;
}

export interface Segment {
  readonly bytes: Buffer;
  readonly places: readonly ArtifactPlace[];
}

interface IndexLine extends ArtifactMeta {
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
}

/** Puts bodies into one segment; each of `places` is that of the body at the same position. */
export function encodeSegment(object: string, bodies: readonly WholeBody[]): Segment {
  assert(isSegmentName(object), 'a segment is named as one');
  assert(bodies.length > 0, 'a segment holds a body');
  const places: ArtifactPlace[] = [];
  let lines = '';
  let offset = 0;
  for (const { meta, body, sha256 } of bodies) {
    assertMeta(meta);
    const { length } = body;
    const line: IndexLine = { ...meta, offset, length, sha256: sha256.toString('hex') };
    lines += `${JSON.stringify(line)}\n`;
    places.push({ object, offset, length });
    offset += length;
  }
  const index = Buffer.from(lines);
  assert(index.length <= limits.segmentIndexBytesMax, 'the index of a segment can be read again');
  const footer = footerOf({ bodies: bodies.length, bodyBytes: offset, index });
  return { bytes: Buffer.concat([...bodies.map(({ body }) => body), index, footer]), places };
}

function footerOf(of: { bodies: number; bodyBytes: number; index: Buffer }): Buffer {
  const footer = Buffer.alloc(footerBytes);
  let at = hashBytes;
  for (const number of [version, of.bodies, of.bodyBytes, of.index.length]) {
    at = footer.writeUInt32BE(number, at);
  }
  magic.copy(footer, at);
  hashOf(of.index, footer).copy(footer);
  return footer;
}

function hashOf(index: Buffer, footer: Buffer): Buffer {
  return createHash('sha256').update(index).update(footer.subarray(hashBytes)).digest();
}

/** The last bytes of an object, at most as many as asked for, and how many it has. */
export interface Tail {
  readonly bytes: Buffer;
  readonly size: number;
}

/**
 * The bodies that the index of a segment names.
 *
 * @param readTail reads the object's last bytes; called twice where the index is long
 * @throws ArtifactMissing when the object is no whole segment of a version that is known
 */
export async function readContents(
  object: string,
  readTail: (bytes: number) => Promise<Tail>,
): Promise<StoredBody[]> {
  let tail = await readTail(tailBytes);
  const footer = footerIn(object, tail);
  if (tail.bytes.length < footer.indexBytes + footerBytes) {
    tail = await readTail(footer.indexBytes + footerBytes);
  }
  const end = tail.bytes.length - footerBytes;
  const index = tail.bytes.subarray(end - footer.indexBytes, end);
  if (!hashOf(index, tail.bytes.subarray(end)).equals(footer.hash)) {
    throw damaged(object, 'its hash is another');
  }
  return bodiesIn(object, index, footer);
}

interface Footer {
  readonly hash: Buffer;
  readonly bodies: number;
  readonly bodyBytes: number;
  readonly indexBytes: number;
}

/** @throws ArtifactMissing */
function footerIn(object: string, { bytes, size }: Tail): Footer {
  if (bytes.length < footerBytes) throw damaged(object, 'it is too short');
  const footer = bytes.subarray(bytes.length - footerBytes);
  if (!footer.subarray(footerBytes - magic.length).equals(magic)) {
    throw damaged(object, 'it does not end as a segment does');
  }
  const [found, bodies, bodyBytes, indexBytes] = [0, 4, 8, 12].map((at) =>
    footer.readUInt32BE(hashBytes + at),
  ) as [number, number, number, number];
  if (found !== version) throw damaged(object, `version ${found} is not known`);
  if (indexBytes > limits.segmentIndexBytesMax) throw damaged(object, 'it is too long');
  if (bodyBytes + indexBytes + footerBytes !== size) throw damaged(object, 'lengths differ');
  return { hash: Buffer.from(footer.subarray(0, hashBytes)), bodies, bodyBytes, indexBytes };
}

/** @throws ArtifactMissing */
function bodiesIn(object: string, index: Buffer, footer: Footer): StoredBody[] {
  const lines = index.toString().split('\n');
  if (lines.pop() !== '' || lines.length !== footer.bodies) {
    throw damaged(object, 'it names another number of bodies');
  }
  let offset = 0;
  const bodies = lines.map((line): StoredBody => {
    const { length, sha256, meta } = bodyIn(object, line, offset);
    const place = { object, offset, length };
    offset += length;
    return { place, meta, sha256 };
  });
  if (offset !== footer.bodyBytes) throw damaged(object, 'its bodies end elsewhere');
  const ids = new Set(bodies.map(({ meta }) => meta.artifactId));
  if (ids.size !== bodies.length) throw damaged(object, 'it names a delivery twice');
  return bodies;
}

/** @throws ArtifactMissing unless the body begins at `offset` */
function bodyIn(object: string, line: string, offset: number) {
  const value = parsed(object, line);
  const meta = checkedMeta(value);
  const { length, sha256, offset: begin } = Object(value) as Partial<Record<string, unknown>>;
  const isWhole =
    meta !== null &&
    uuid.test(meta.artifactId) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Number.isSafeInteger(length) &&
    (length as number) >= 0;
  if (!isWhole) throw damaged(object, 'a line of it is incomplete');
  if (begin !== offset) throw damaged(object, 'a body does not begin where the last one ends');
  return { meta, length: length as number, sha256: Buffer.from(sha256, 'hex') };
}

function parsed(object: string, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw damaged(object, 'a line of it is no JSON', cause);
  }
}

function damaged(object: string, why: string, cause?: unknown): ArtifactMissing {
  return new ArtifactMissing(`the index of ${object} is damaged: ${why}`, { cause });
}
