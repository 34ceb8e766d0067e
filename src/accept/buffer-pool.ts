const blockBytes = 512 * 1024;
const blocksKeptMax = 64;
const smallBytes = 32 * 1024;

const free: Buffer[] = [];

/** Memory for one chunk of a body; `release` gives it back and is called once. */
export interface Block {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Copies a chunk out of the memory that uWebSockets.js takes back when its callback returns.
 *
 * Large chunks share a fixed set of blocks: fresh buffers of that size would wait outside the
 * heap for the collector, and 64 uploads would hold several times what they need.
 */
export function copyChunk(chunk: ArrayBuffer): Block {
  const from = new Uint8Array(chunk);
  if (from.byteLength <= smallBytes || from.byteLength > blockBytes) {
    return { bytes: Buffer.from(from), release: () => {} };
  }
  const block = free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  block.set(from);
  let held = true;
  return {
    bytes: block.subarray(0, from.byteLength),
    release() {
      if (held && free.length < blocksKeptMax) free.push(block);
      held = false;
    },
  };
}
