import { instant } from '../std/instant.ts';
import type { AccessKey } from './nouns.ts';

/** An access key as the command line and the app show it. */
export function keyView(key: AccessKey) {
  return {
    key_id: key.keyId,
    source_id: key.sourceId,
    scope: key.scope,
    sandbox: key.sandbox,
    created_at: instant(key.createdAt),
    expires_at: instant(key.expiresAt),
    last_used_at: instant(key.lastUsedAt),
    revoked_at: instant(key.revokedAt),
  };
}
