import { StoreAway } from '../artifacts.ts';
import { refused } from './errors.ts';
import type { Response } from './response.ts';

/** @throws StoreAway unless the store says that it keeps a body with this SHA-256 */
export function requireKept(response: Response, sha256: Buffer): void {
  if (response.status !== 200) throw refused(response);
  // A store that does not say so has not verified it, and may have kept the framing as body.
  if (response.headers.get('x-amz-checksum-sha256') !== sha256.toString('base64')) {
    throw new StoreAway('the S3 store did not confirm the SHA-256 of the body');
  }
}
