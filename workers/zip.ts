import { crc32 } from 'node:zlib';
import { limits } from '../src/domain/limits.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { inflateRaw, pieceBytes, type TakePiece, type UnpackBudget } from './unpack.ts';

/** One file of a ZIP archive, as the directory at its end describes it. */
export interface ZipEntry {
  readonly stored: boolean;
  readonly packed: Buffer;
  readonly bytes: number;
  readonly crc: number;
}

const invalid: DeliveryProblem = { code: 'xlsx_invalid' };
const falseEntry: DeliveryProblem = { code: 'zip_false' };

const endSignature = 0x06054b50;
const endBytes = 22;
const entrySignature = 0x02014b50;
const entryBytes = 46;
const localSignature = 0x04034b50;
const localBytes = 30;
const entriesMax = 10_000;

/**
 * Reads the directory of a ZIP archive, without ZIP64: bodies are too small to need it. Archives
 * that could be read in two ways are refused: names that come twice, files that overlap, local
 * headers that differ from the directory.
 */
export function readZip(bytes: Buffer): ReadonlyMap<string, ZipEntry> | DeliveryProblem {
  const end = endOfDirectory(bytes);
  if (end < 0) return invalid;
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (at + bytes.readUInt32LE(end + 12) > end || count > entriesMax) return invalid;
  const entries = new Map<string, ZipEntry>();
  const stretches: { start: number; end: number }[] = [];
  for (let i = 0; i < count; i++) {
    if (at + entryBytes > end || bytes.readUInt32LE(at) !== entrySignature) return invalid;
    const next =
      at + entryBytes + [28, 30, 32].reduce((sum, of) => sum + bytes.readUInt16LE(at + of), 0);
    if (next > end) return invalid;
    const name = bytes.subarray(at + entryBytes, at + entryBytes + bytes.readUInt16LE(at + 28));
    const entry = readEntry(bytes, at, name);
    if ('code' in entry) return entry;
    if (entries.has(name.toString())) return invalid;
    entries.set(name.toString(), entry);
    const start = bytes.readUInt32LE(at + 42);
    stretches.push({
      start,
      end: entry.packed.byteOffset - bytes.byteOffset + entry.packed.length,
    });
    at = next;
  }
  stretches.sort((a, b) => a.start - b.start);
  const overlap = stretches.some(({ start }, i) => i > 0 && start < stretches[i - 1]!.end);
  return overlap ? invalid : entries;
}

/** Looks from the end on, where the comment of the archive may stand; −1 when there is none. */
function endOfDirectory(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - endBytes - 0xffff);
  for (let at = bytes.length - endBytes; at >= first; at--) {
    if (bytes.readUInt32LE(at) !== endSignature) continue;
    if (at + endBytes + bytes.readUInt16LE(at + 20) === bytes.length) return at;
  }
  return -1;
}

function readEntry(bytes: Buffer, at: number, name: Buffer): ZipEntry | DeliveryProblem {
  const flags = bytes.readUInt16LE(at + 8);
  if (flags & 1) return { code: 'xlsx_encrypted' };
  const method = bytes.readUInt16LE(at + 10);
  const packedBytes = bytes.readUInt32LE(at + 20);
  const local = bytes.readUInt32LE(at + 42);
  if (local + localBytes > bytes.length) return invalid;
  if (bytes.readUInt32LE(local) !== localSignature) return invalid;
  const nameEnd = local + localBytes + bytes.readUInt16LE(local + 26);
  const start = nameEnd + bytes.readUInt16LE(local + 28);
  if (start + packedBytes > bytes.length) return invalid;
  const sameName = bytes.subarray(local + localBytes, nameEnd).equals(name);
  if (!sameName || bytes.readUInt16LE(local + 8) !== method) return invalid;
  if (method !== 0 && method !== 8) return invalid;
  return {
    stored: method === 0,
    packed: bytes.subarray(start, start + packedBytes),
    bytes: bytes.readUInt32LE(at + 24),
    crc: bytes.readUInt32LE(at + 16),
  };
}

/**
 * Unpacks a file of an archive, piece by piece, as long as it has what the directory says.
 *
 * @returns the first problem: of the file, of `take`, or a size or checksum that was false
 */
export async function unpackEntry(
  entry: ZipEntry,
  budget: UnpackBudget,
  take: TakePiece,
): Promise<DeliveryProblem | null> {
  let bytes = 0;
  let crc = 0;
  const checked: TakePiece = async (piece) => {
    bytes += piece.length;
    if (bytes > entry.bytes) return falseEntry;
    crc = crc32(piece, crc);
    return budget.take(piece.length) ?? (await take(piece));
  };
  const problem = entry.stored
    ? await eachSlice(entry.packed, checked)
    : await inflateRaw(entry.packed, checked);
  if (problem !== null) return problem.code === 'encoding_invalid' ? invalid : problem;
  return bytes === entry.bytes && crc === entry.crc ? null : falseEntry;
}

/** A file in one piece, for those that are small in any honest workbook. */
export async function unpackWhole(
  entry: ZipEntry,
  budget: UnpackBudget,
): Promise<Buffer | DeliveryProblem> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const problem = await unpackEntry(entry, budget, async (piece) => {
    pieces.push(piece);
    bytes += piece.length;
    return bytes > limits.recordCharsMax ? { code: 'xlsx_invalid' } : null;
  });
  return problem ?? Buffer.concat(pieces);
}

async function eachSlice(body: Buffer, take: TakePiece) {
  for (let at = 0; at < body.length; at += pieceBytes) {
    const problem = await take(body.subarray(at, at + pieceBytes));
    if (problem !== null) return problem;
  }
  return null;
}
