import { z } from 'zod';
import { limits } from '../../limits.ts';
import { endpoint } from './endpoint.ts';

const instant = z.iso.datetime().describe('RFC 3339, UTC.');
const scope = z.enum(['read', 'write', 'read_write']).describe('What it may do; never changes.');
const daysMax = 36_500;

export const key = z.object({
  key_id: z.uuid(),
  source_id: z.uuid(),
  scope,
  sandbox: z.boolean().describe('All that comes with it is marked test.'),
  created_at: instant,
  expires_at: instant.describe('From then on it opens nothing.'),
  last_used_at: instant.nullable(),
  revoked_at: instant.nullable(),
  rotated_to: z.uuid().nullable().describe('The key that took its place.'),
  state: z.enum(['active', 'ending', 'expired', 'revoked']).describe('`ending`: in its overlap.'),
});

const shownOnce = key.extend({ access_key: z.string().describe('The key; shown this once.') });

export const listKeys = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/keys',
  summary: "Lists a source's access keys, newest first.",
  needs: 'sources.read',
  answer: z.object({ keys: z.array(key) }),
});

export const createKey = endpoint({
  method: 'POST',
  path: '/app/api/sources/{source_id}/keys',
  summary: 'Makes an access key.',
  needs: 'sources.manage',
  fresh: true,
  audited: 'key create',
  body: z.strictObject({
    scope,
    sandbox: z.boolean().default(false),
    expires_days: z.number().int().min(1).max(daysMax).default(limits.keyLifetimeDays),
  }),
  answer: shownOnce,
});

export const rotateKey = endpoint({
  method: 'POST',
  path: '/app/api/keys/{key_id}/rotate',
  summary: 'Makes the key that takes the place of another; both work during the overlap.',
  needs: 'sources.manage',
  fresh: true,
  audited: 'key rotate',
  body: z.strictObject({
    overlap_days: z.number().int().min(0).max(daysMax).describe('0: the old one ends at once.'),
  }),
  answer: shownOnce,
});

export const revokeKey = endpoint({
  method: 'POST',
  path: '/app/api/keys/{key_id}/revoke',
  summary: 'Ends a key: its next request is refused.',
  needs: 'sources.manage',
  fresh: true,
  audited: 'key revoke',
  answer: key,
});

const secret = z.object({
  secret_id: z.uuid(),
  created_at: instant,
  ends_at: instant.nullable().describe('Null: the current one.'),
  last_used_at: instant.nullable(),
  state: z.enum(['current', 'ending', 'ended']),
});

export const listSecrets = endpoint({
  method: 'GET',
  path: '/app/api/sources/{source_id}/secrets',
  summary: "Lists a webhook source's signing secrets, newest first, never their text.",
  needs: 'sources.read',
  answer: z.object({ secrets: z.array(secret) }),
});

export const rotateSecret = endpoint({
  method: 'POST',
  path: '/app/api/sources/{source_id}/secrets/rotate',
  summary: `Makes the next signing secret; the old one works for ${limits.oldSecretHours} hours.`,
  needs: 'sources.manage',
  fresh: true,
  audited: 'secret rotate',
  answer: z.object({
    signing_secret: z.string().describe('The secret; shown this once.'),
    old_ends_at: instant.describe('Until then the one before works too.'),
  }),
});
