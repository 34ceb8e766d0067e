/** Access keys (DECISIONS 1; specification, "Access keys"). Pure: random bytes come in. */

export type KeyKind = 'live' | 'test' | 'demo';

/** Random bytes that one key takes: 192 bits. */
export const keyRandomBytes = 24;

/** A `Buffer`, said so that a browser can run this file's other parts. */
export interface Random {
  toString(encoding: 'base64url'): string;
}

/** @returns the key as it is shown once, `wk_live_…`; only its hash is kept */
export function formatKey(kind: KeyKind, random: Random): string {
  return `wk_${kind}_${random.toString('base64url')}`;
}

/** The published key of every demo deployment: it reads fixture samples and opens nothing else. */
export const demoKey = 'wk_demo_ukcuS3yB41pjdaLOwm9PfmzzLod7nYGD';

const bearer = /^[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9_-]{1,200})$/;

/** The key in an `Authorization` header (RFC 6750, section 2.1); null when there is none. */
export function keyOfHeader(header: string | undefined): string | null {
  return (header !== undefined && bearer.exec(header)?.[1]) || null;
}

/**
 * Whether a key opens anything at `now`. The end of its validity is exclusive. A revoked key opens
 * nothing, whatever the clock says: it may have been set back since.
 */
export function keyIsLive(
  key: { readonly expiresAt: number; readonly revokedAt: number | null },
  now: number,
): boolean {
  return now < key.expiresAt && key.revokedAt === null;
}
