import { limits } from '../src/domain/limits.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';

const magic = 0xfd2fb528;
/** Frames that carry no content (RFC 8878, section 3.1.2). */
const skippableMagic = 0x184d2a50;

const invalid: DeliveryProblem = { code: 'encoding_invalid' };

/**
 * Finds the zstd frames that a body is made of (RFC 8878, section 3.1): whole ones, one after
 * another, to its last byte. What is in their blocks is the decoder's to judge.
 *
 * @returns the frames with content
 */
export function zstdFrames(body: Buffer): readonly Buffer[] | DeliveryProblem {
  const frames: Buffer[] = [];
  let at = 0;
  let count = 0;
  while (at < body.length) {
    count++;
    if (count > limits.zstdFramesMax) return { code: 'too_many_frames' };
    if (at + 8 > body.length) return invalid;
    const found = body.readUInt32LE(at);
    if ((found & ~0xf) >>> 0 === skippableMagic) {
      at += 8 + body.readUInt32LE(at + 4);
      if (at > body.length) return invalid;
      continue;
    }
    const end = found === magic ? frameEnd(body, at + 4) : -1;
    if (end < 0 || end > body.length) return invalid;
    frames.push(body.subarray(at, end));
    at = end;
  }
  return frames.length > 0 ? frames : invalid;
}

/** @param at after the magic number; −1 when the frame is cut off */
function frameEnd(body: Buffer, at: number): number {
  const descriptor = body[at]!;
  const singleSegment = (descriptor >> 5) & 1;
  const checksumBytes = descriptor & 4 ? 4 : 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  const sizeBytes = [singleSegment, 2, 4, 8][descriptor >> 6]!;
  let block = at + 1 + (1 - singleSegment) + dictionaryBytes + sizeBytes;
  for (;;) {
    if (block + 3 > body.length) return -1;
    const header = body.readUIntLE(block, 3);
    const isRun = ((header >> 1) & 3) === 1;
    block += 3 + (isRun ? 1 : header >> 3);
    if (header & 1) return block + checksumBytes;
  }
}
