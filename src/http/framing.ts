import { invalid } from '../domain/errors.ts';
import type { RequestHead } from './head.ts';

/** How a body is delimited: so many bytes, or in chunks until an empty one. */
export type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

/**
 * Reads how the body is delimited (RFC 9112, section 6). Whatever two readers could understand
 * in two ways is refused.
 *
 * @throws ApiError 400 naming `Content-Length` or `Transfer-Encoding`
 */
export function framingOf(head: RequestHead): Framing {
  const length = head.header('Content-Length');
  const coding = head.header('Transfer-Encoding');
  if (coding !== undefined) {
    if (length !== undefined) {
      throw invalid('Content-Length', 'Content-Length and Transfer-Encoding exclude each other.');
    }
    if (coding.toLowerCase() !== 'chunked') {
      throw invalid('Transfer-Encoding', 'The only transfer coding taken is chunked.');
    }
    return { kind: 'chunked' };
  }
  if (length === undefined) return { kind: 'length', bytes: 0 };
  if (!/^[0-9]{1,15}$/.test(length)) {
    throw invalid('Content-Length', 'Content-Length must be a number of bytes.');
  }
  return { kind: 'length', bytes: Number(length) };
}

/** Whether the framing of a refused request leaves the rest of the connection readable. */
export function framingIsSound(head: RequestHead): boolean {
  try {
    framingOf(head);
    return true;
  } catch {
    return false;
  }
}
