import { hash } from 'node:crypto';
import type { KeyHolder, Lookup } from '../catalog/catalog.ts';
import { ApiError } from '../domain/errors.ts';
import { keyIsLive, keyOfHeader } from '../domain/keys.ts';
import type { Scope } from '../domain/nouns.ts';
import type { RequestHead } from './head.ts';

/**
 * Finds whose key a request carries (specification, "Access keys", 1 and 6). The key is looked up
 * by its hash, so that a comparison tells nothing about a key by its time. A demo key is known to
 * demo deployments only, whatever the catalog holds.
 *
 * @throws ApiError 401 for a missing, unknown, revoked or expired key: one answer for all four
 */
export async function callerOf(
  head: RequestHead,
  parts: { readonly lookup: Pick<Lookup, 'key'>; readonly demo: boolean },
  now: number,
): Promise<KeyHolder> {
  const key = keyOfHeader(head.header('Authorization'));
  const holder = key && (await parts.lookup.key(hash('sha256', key, 'buffer')));
  if (!holder || !keyIsLive(holder.key, now) || (holder.key.demo && !parts.demo)) {
    throw new ApiError(401, 'unauthenticated', 'A valid access key is needed.', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  return holder;
}

/** @throws ApiError 403 `insufficient_scope` */
export function requireScope(holder: KeyHolder, needed: Exclude<Scope, 'read_write'>): void {
  if (holder.key.scope !== needed && holder.key.scope !== 'read_write') {
    throw new ApiError(403, 'insufficient_scope', `This key's scope does not allow this call.`);
  }
}
