import type { Exchange } from './exchange.ts';

/** Why a body was not read. */
export type BodyRefusal = 'too_large' | 'too_slow';

const deadlineMs = 10_000;

/**
 * Reads a body that is small by its nature, whole, into memory. Must be called within the request
 * handler: uWebSockets.js drops chunks that nobody asked for.
 *
 * @returns the bytes, or why not; never resolves when the sender goes away
 */
export function readSmallBody(exchange: Exchange, bytesMax: number): Promise<Buffer | BodyRefusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => resolve('too_slow'), deadlineMs);
    exchange.onGone(() => clearTimeout(timer));
    exchange.res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) {
        chunks.length = 0;
        clearTimeout(timer);
        resolve('too_large');
        return;
      }
      // The chunk's memory is uWebSockets.js's own and is gone after this call.
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (!isLast) return;
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
  });
}
