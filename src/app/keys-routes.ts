import {
  createKey,
  listKeys,
  listSecrets,
  revokeKey,
  rotateKey,
  rotateSecret,
} from '../domain/api/app/keys.ts';
import { keyView } from '../domain/key-view.ts';
import { keyIsLive } from '../domain/keys.ts';
import { limits } from '../domain/limits.ts';
import type { AccessKey } from '../domain/nouns.ts';
import type { SigningSecret } from '../domain/secrets.ts';
import type { Route } from '../http/routes.ts';
import { instant } from '../std/instant.ts';
import { ownKey, ownSource } from './owned.ts';
import type { AppParts } from './parts.ts';
import { serveEndpoint } from './serve-endpoint.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export function keyRoutes(parts: AppParts): Route[] {
  return [...accessKeyRoutes(parts), ...secretRoutes(parts)];
}

function accessKeyRoutes(parts: AppParts): Route[] {
  const { catalog, newKey } = parts;
  return [
    serveEndpoint(parts, listKeys, async ({ by, params, now }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      const keys = await catalog.directory.keys(sourceId);
      return { keys: keys.reverse().map((one) => stateView(one, now)) };
    }),
    serveEndpoint(parts, createKey, async ({ by, params, body, now }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      const { scope, sandbox, expires_days: days } = body;
      const { text, keyId, hash } = newKey({ sandbox });
      const made = { keyId, sourceId, hash, scope, sandbox, expiresAt: now + days * dayMs };
      const kept = await catalog.directory.createKey(made, now);
      return { ...stateView(kept, now), access_key: text };
    }),
    serveEndpoint(parts, rotateKey, async ({ by, params, body, now }) => {
      const { key: old } = await ownKey(catalog, by, params.key_id!);
      const { text, keyId, hash } = newKey(old);
      const expiresAt = now + limits.keyLifetimeDays * dayMs;
      const overlapEndsAt = now + body.overlap_days * dayMs;
      const next = { keyId, hash, expiresAt, overlapEndsAt };
      const kept = await catalog.directory.rotateKey(old.keyId, next, now);
      return { ...stateView(kept, now), access_key: text };
    }),
    serveEndpoint(parts, revokeKey, async ({ by, params, now }) => {
      const { key: old } = await ownKey(catalog, by, params.key_id!);
      return stateView(await catalog.directory.revokeKey(old.keyId, now), now);
    }),
  ];
}

function secretRoutes(parts: AppParts): Route[] {
  const { directory } = parts.catalog;
  return [
    serveEndpoint(parts, listSecrets, async ({ by, params, now }) => {
      const { sourceId } = await ownSource(parts.catalog, by, params.source_id!);
      const secrets = await directory.secrets(sourceId);
      return { secrets: secrets.map((one) => secretView(one, now)) };
    }),
    serveEndpoint(parts, rotateSecret, async ({ by, params, now }) => {
      const { sourceId } = await ownSource(parts.catalog, by, params.source_id!);
      const { text, secret } = parts.newSecret();
      const oldEndsAt = now + limits.oldSecretHours * hourMs;
      await directory.rotateSecret(sourceId, secret, oldEndsAt, now);
      return { signing_secret: text, old_ends_at: instant(oldEndsAt) };
    }),
  ];
}

function stateView(one: AccessKey, now: number) {
  return { ...keyView(one), rotated_to: one.rotatedTo, state: stateOf(one, now) };
}

function stateOf(one: AccessKey, now: number): 'active' | 'ending' | 'expired' | 'revoked' {
  if (one.revokedAt !== null) return 'revoked';
  if (!keyIsLive(one, now)) return 'expired';
  return one.rotatedTo === null ? 'active' : 'ending';
}

function secretView({ secretId, createdAt, endsAt, lastUsedAt }: SigningSecret, now: number) {
  const state: 'current' | 'ending' | 'ended' =
    endsAt === null ? 'current' : now < endsAt ? 'ending' : 'ended';
  return {
    secret_id: secretId,
    created_at: instant(createdAt),
    ends_at: instant(endsAt),
    last_used_at: instant(lastUsedAt),
    state,
  };
}
