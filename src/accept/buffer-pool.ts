import { assert } from '../std/assert.ts';

/** Chunks up to this are copied into memory of their own: fresh buffers that small cost little. */
const ownBytesMax = 4 * 1024;
/** Chunks up to this are gathered first. */
const gatheredChunkBytesMax = 1024;
/** Blocks have these sizes, each half of the next; one read brings up to the largest. */
const blockBytesMin = 8 * 1024;
const blockBytesMax = 512 * 1024;
const bytesKeptMax = 16 * 1024 * 1024;

const free = new Map<number, Buffer[]>();
let bytesKept = 0;

const nothing = () => {};

/** Memory for one chunk of a body; `release` gives it back and is called once. */
export interface Block {
  readonly bytes: Buffer;
  /** What it takes of memory: `bytes` rounded up. */
  readonly bytesHeld: number;
  /** Its memory is not used again after `release`. */
  readonly isOwn: boolean;
  release(): void;
}

/**
 * Copies a chunk out of the memory that uWebSockets.js takes back when its callback returns.
 *
 * Chunks share a bounded set of blocks: fresh buffers of that size would wait outside the heap for
 * the collector, and 64 uploads would hold several times what they need. A block is at most twice
 * as large as its chunk.
 */
export function copyChunk(chunk: ArrayBuffer): Block {
  const from = new Uint8Array(chunk);
  if (from.byteLength <= ownBytesMax || from.byteLength > blockBytesMax) {
    const bytes = Buffer.from(from);
    return { bytes, bytesHeld: from.byteLength, isOwn: true, release: nothing };
  }
  const block = take(from.byteLength);
  block.set(from);
  let held = true;
  return {
    bytes: block.subarray(0, from.byteLength),
    bytesHeld: block.length,
    isOwn: false,
    release() {
      assert(held, 'a block is given back once');
      held = false;
      keep(block);
    },
  };
}

/**
 * Small chunks of one read, put together: a body in chunks of one byte would otherwise take a
 * hundred times its bytes, in buffers and calls.
 */
export class GatheredChunks {
  #buffer: Buffer | null = null;
  #filled = 0;

  get empty(): boolean {
    return this.#buffer === null;
  }

  /** @returns false when the chunk is too large, or what is gathered must be taken first */
  add(chunk: ArrayBuffer): boolean {
    const bytes = chunk.byteLength;
    if (bytes > gatheredChunkBytesMax) return false;
    if (this.#filled + bytes > (this.#buffer?.length ?? ownBytesMax)) return false;
    this.#buffer ??= Buffer.allocUnsafeSlow(ownBytesMax);
    this.#buffer.set(new Uint8Array(chunk), this.#filled);
    this.#filled += bytes;
    return true;
  }

  /** What is gathered, as a block; null when it is nothing. */
  take(): Block | null {
    const buffer = this.#buffer;
    if (!buffer) return null;
    const bytes = buffer.subarray(0, this.#filled);
    this.#buffer = null;
    this.#filled = 0;
    return { bytes, bytesHeld: buffer.length, isOwn: true, release: nothing };
  }
}

function take(bytes: number): Buffer {
  let size = blockBytesMin;
  while (size < bytes) size *= 2;
  const kept = free.get(size)?.pop();
  if (kept) bytesKept -= size;
  return kept ?? Buffer.allocUnsafeSlow(size);
}

function keep(block: Buffer): void {
  if (bytesKept + block.length > bytesKeptMax) return;
  bytesKept += block.length;
  const same = free.get(block.length);
  if (same) same.push(block);
  else free.set(block.length, [block]);
}
