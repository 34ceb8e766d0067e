import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { assertion, attestation, creationOptions, requestOptions } from './passkey.ts';

const permission = z.enum(['sources.read', 'sources.manage']);
const instant = z.iso.datetime().describe('RFC 3339, UTC.');

/** Who is signed in, and what the pages need to know of the service. */
export const session = z.object({
  user: z.object({ email: z.string(), permissions: z.array(permission) }),
  company: z.object({ company_id: z.uuid(), name: z.string(), timezone: z.string() }),
  /** Until then keys and secrets may be made without another passkey check; null: not now. */
  fresh_until: instant.nullable(),
  demo: z.boolean().describe('A demo deployment: everything can be looked at, nothing changed.'),
  api_url: z.url().describe('The API as callers reach it.'),
});

export const readSession = endpoint({
  method: 'GET',
  path: '/app/api/session',
  summary: 'Tells who is signed in.',
  needs: 'sources.read',
  answer: session,
});

export const signInOptions = endpoint({
  method: 'POST',
  path: '/app/api/sign-in/options',
  summary: 'Begins a sign-in: a challenge for any passkey of the app, good for five minutes.',
  needs: 'nobody',
  refuses: ['too_many_tries'],
  answer: requestOptions,
});

export const signIn = endpoint({
  method: 'POST',
  path: '/app/api/sign-in',
  summary: 'Signs in with a checked passkey; the session lasts for twelve hours.',
  needs: 'nobody',
  refuses: ['passkey_refused', 'too_many_tries'],
  body: z.strictObject({ passkey: assertion }),
  answer: session,
});

export const confirmOptions = endpoint({
  method: 'POST',
  path: '/app/api/confirm/options',
  summary: 'Begins another check of the passkey of who is signed in.',
  needs: 'sources.read',
  refuses: ['too_many_tries'],
  answer: requestOptions,
});

export const confirm = endpoint({
  method: 'POST',
  path: '/app/api/confirm',
  summary: 'Notes a checked passkey of who is signed in: keys and secrets open for five minutes.',
  needs: 'sources.read',
  refuses: ['passkey_refused', 'too_many_tries'],
  body: z.strictObject({ passkey: assertion }),
  answer: session,
});

export const signOut = endpoint({
  method: 'POST',
  path: '/app/api/sign-out',
  summary: 'Ends the session.',
  needs: 'nobody',
  answer: z.object({}),
});

const token = z.string().max(200).describe('Of the link: what stands behind its #.');

/** Whom a link invites. */
export const invitation = z.object({
  email: z.string(),
  company: z.string(),
  permissions: z.array(permission),
});

export const readInvitation = endpoint({
  method: 'POST',
  path: '/app/api/invitation',
  summary: 'Tells whom a link invites; it takes a POST so that no log has the link.',
  needs: 'nobody',
  refuses: ['not_found', 'too_many_tries'],
  body: z.strictObject({ token }),
  answer: invitation,
});

export const invitationOptions = endpoint({
  method: 'POST',
  path: '/app/api/invitation/options',
  summary: 'Begins the making of the passkey of who is invited.',
  needs: 'nobody',
  refuses: ['not_found', 'too_many_tries'],
  body: z.strictObject({ token }),
  answer: creationOptions,
});

export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/app/api/invitation/accept',
  summary: 'Keeps the passkey, uses the link up, and signs in.',
  needs: 'nobody',
  refuses: ['not_found', 'passkey_refused', 'too_many_tries'],
  body: z.strictObject({ token, passkey: attestation }),
  answer: session,
});
