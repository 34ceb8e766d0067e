import { gunzipSync } from 'node:zlib';
import type { ContentEncoding } from '../src/domain/nouns.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';

/** What a packed body may come to: a small body can hold a very large one. */
export const unpackedBytesMax = 256 * 1024 * 1024;

/** Undoes the content encoding of a body as received; the body itself where it has none. */
export function unpack(
  received: Buffer,
  encoding: ContentEncoding,
): { readonly body: Buffer } | DeliveryProblem {
  if (encoding === 'identity') return { body: received };
  // Node's zstd gives out what it has of a body that is cut off, without an error: a part would
  // be taken for the whole.
  if (encoding === 'zstd') return { code: 'encoding_unsupported' };
  try {
    return { body: gunzipSync(received, { maxOutputLength: unpackedBytesMax }) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ERR_BUFFER_TOO_LARGE') return { code: 'unpacked_too_large' };
    if (code.startsWith('Z_')) return { code: 'encoding_invalid' };
    throw error;
  }
}
