import { z } from 'zod';
import { endpoint } from './endpoint.ts';

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
