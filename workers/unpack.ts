import { constants, createGunzip, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { limits } from '../src/domain/limits.ts';
import type { ContentEncoding } from '../src/domain/nouns.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { zstdFrames } from './zstd-frames.ts';

/** How much is unpacked, judged and made into rows at a time. */
export const pieceBytes = 256 * 1024;

/** @returns why reading ends here; null: the next piece may come */
export type TakePiece = (piece: Buffer) => Promise<DeliveryProblem | null>;

/** What a small body may unpack to: it can hold a very large one. */
export class UnpackBudget {
  readonly #packedBytes: number;
  #bytes = 0;

  constructor(packedBytes: number) {
    this.#packedBytes = packedBytes;
  }

  take(bytes: number): DeliveryProblem | null {
    this.#bytes += bytes;
    if (this.#bytes > limits.unpackedBytesMax) return { code: 'unpacked_too_large' };
    if (this.#bytes <= limits.unpackRatioFromBytes) return null;
    const ratio = this.#bytes / this.#packedBytes;
    return ratio > limits.unpackRatioMax ? { code: 'unpack_ratio' } : null;
  }
}

/**
 * Undoes the content encoding of a body, piece by piece; a body without one comes in pieces of
 * `plainBytes`. A body that is cut off, or goes on after its end, is refused at that point.
 *
 * @returns the first problem, of the encoding or of `take`; null when the whole body was taken
 */
export async function unpack(
  received: Buffer,
  encoding: ContentEncoding,
  take: TakePiece,
  plainBytes = pieceBytes,
): Promise<DeliveryProblem | null> {
  if (encoding === 'identity') return eachSlice(received, plainBytes, take);
  const budget = new UnpackBudget(received.length);
  const takeWithin: TakePiece = async (piece) => budget.take(piece.length) ?? (await take(piece));
  if (encoding === 'gzip') return inflate(createGunzip(options), received, takeWithin);
  // Node gives out what it has of a zstd body that is cut off, without an error, and ends after
  // its first frame: so the frames are found before.
  const frames = zstdFrames(received);
  if ('code' in frames) return frames;
  const gathered = new GatheredPieces(take);
  const gatherWithin: TakePiece = async (piece) =>
    budget.take(piece.length) ?? (await gathered.add(piece));
  for (const frame of frames) {
    const stream = createZstdDecompress({ ...options, params: zstdParams });
    const problem = await inflate(stream, frame, gatherWithin);
    if (problem !== null) return problem;
  }
  return gathered.give();
}

/**
 * Frames can be tiny, and a record that goes on beyond its piece is read again with the next one:
 * a thousand pieces of a byte would have a record of megabytes read a thousand times.
 */
class GatheredPieces {
  readonly #take: TakePiece;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(take: TakePiece) {
    this.#take = take;
  }

  async add(piece: Buffer): Promise<DeliveryProblem | null> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return this.#bytes < pieceBytes ? null : this.give();
  }

  async give(): Promise<DeliveryProblem | null> {
    if (this.#bytes === 0) return null;
    const [first] = this.#pieces;
    const whole = this.#pieces.length === 1 ? first! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    return this.#take(whole);
  }
}

/** Undoes the deflate of a file in a ZIP archive, piece by piece. */
export function inflateRaw(packed: Uint8Array, take: TakePiece): Promise<DeliveryProblem | null> {
  return inflate(createInflateRaw(options), packed, take);
}

const options = { chunkSize: pieceBytes };
const zstdParams = { [constants.ZSTD_d_windowLogMax]: limits.zstdWindowLogMax };

async function eachSlice(body: Buffer, bytes: number, take: TakePiece) {
  for (let at = 0; at < body.length; at += bytes) {
    const problem = await take(body.subarray(at, at + bytes));
    if (problem !== null) return problem;
  }
  return null;
}

type Inflater = ReturnType<
  typeof createGunzip | typeof createInflateRaw | typeof createZstdDecompress
>;

async function inflate(
  stream: Inflater,
  packed: Uint8Array,
  take: TakePiece,
): Promise<DeliveryProblem | null> {
  stream.end(packed);
  try {
    for await (const piece of stream) {
      const problem = await take(piece as Buffer);
      if (problem !== null) return problem;
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (/^(Z_|ZSTD_)/.test(code)) return { code: 'encoding_invalid' };
    throw error;
  }
  // Noughts after the last gzip member are passed over without an error.
  return stream.bytesWritten === packed.length ? null : { code: 'encoding_invalid' };
}
