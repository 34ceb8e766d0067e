import { limits } from '../domain/limits.ts';
import type { Exchange } from './exchange.ts';

/** Why a body was not read. `gone`: it was answered before it had come, or its sender went away. */
export type BodyRefusal = 'too_large' | 'too_slow' | 'gone';

/** A body of which a part is still to come. */
interface Coming {
  bytes: number;
  /** Keeps nothing of it and reads on to nowhere. */
  giveWay(): void;
}

const deadlineMs = 10_000;

/** From the oldest. */
const coming = new Set<Coming>();
let bytesHeld = 0;

/**
 * Reads a body that is small by its nature, whole, into memory. Must be called within the request
 * handler: uWebSockets.js drops chunks that nobody asked for.
 *
 * Anybody may begin one and leave it there: where all that have not come whole hold more than
 * `smallBodiesBytesHeldMax`, the oldest is too slow.
 *
 * @returns the bytes, or why not; resolves in any case
 */
export function readSmallBody(exchange: Exchange, bytesMax: number): Promise<Buffer | BodyRefusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const own: Coming = { bytes: 0, giveWay: () => end('too_slow') };
    const timer = setTimeout(() => end('too_slow'), deadlineMs);
    coming.add(own);
    function end(how: BodyRefusal | 'whole'): void {
      if (!coming.delete(own)) return;
      clearTimeout(timer);
      bytesHeld -= own.bytes;
      resolve(how === 'whole' ? Buffer.concat(chunks) : how);
      chunks.length = 0;
    }
    exchange.onGone(() => end('gone'));
    exchange.onAnswer(() => end('gone'));
    exchange.res.onData((chunk, isLast) => {
      if (!coming.has(own)) return;
      own.bytes += chunk.byteLength;
      bytesHeld += chunk.byteLength;
      // The chunk's memory is uWebSockets.js's own and is gone after this call.
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (own.bytes > bytesMax) end('too_large');
      else if (isLast) end('whole');
      else makeRoom();
    });
  });
}

function makeRoom(): void {
  for (const oldest of coming) {
    if (bytesHeld <= limits.smallBodiesBytesHeldMax) return;
    oldest.giveWay();
  }
}
