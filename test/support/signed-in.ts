import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Catalog } from '../../src/catalog/catalog.ts';
import type { UserPermission } from '../../src/catalog/users-contract.ts';
import type { WeirPlace } from '../../src/start/demo/running-weir.ts';

/**
 * A user of the app, signed in, for tests of the app API:
 *
 *     const source = await weir.source();
 *     const user = await signedIn(weir, { of: source.sourceId, permissions: ['sources.manage'] });
 *     const answer = await user('/app/api/sources');                              // GET
 *     const made = await user('/app/api/…/keys', { json: { scope: 'read' } });    // POST
 *
 * User and session are written to the catalog from here; signing in has tests of its own
 * (`authenticator.ts`). `fresh: false` is a session whose passkey check was six minutes ago.
 */
export async function signedIn(
  weir: { readonly catalog: Catalog; readonly running: { readonly place: WeirPlace } },
  spec: UserSpec = {},
): Promise<SignedInUser> {
  const { permissions = ['sources.manage'], fresh = true } = spec;
  const { users } = weir.catalog;
  const companyId = spec.companyId ?? (await companyOf(weir.catalog, spec.of));
  const email = spec.email ?? `${randomUUID()}@example.com`;
  const signedInAt = Date.now() - (fresh ? 0 : 6 * 60_000);
  const endsAt = signedInAt + 12 * 3_600_000;
  const invitation = { userId: randomUUID(), companyId, email, permissions, endsAt };
  const { userId } = await users.invite({ ...invitation, hash: randomBytes(32) }, signedInAt);
  const token = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(token).digest();
  await users.startSession({ hash, userId, endsAt }, signedInAt);
  const cookie = `weir=${token}`;
  const user = appClient(weir.running.place, cookie);
  return Object.assign(user, { companyId, userId, email, cookie });
}

export interface UserSpec {
  /** Default: `sources.manage`. */
  readonly permissions?: readonly UserPermission[];
  readonly fresh?: boolean;
  /** Of the company that has this source. */
  readonly of?: string;
  /** Of this company; without it and without `of`, of a new one. */
  readonly companyId?: string;
  readonly email?: string;
}

/** As `fetch`, with a path, the page's Origin and the cookie; `json` makes it a POST. */
export type AppClient = (
  path: string,
  init?: RequestInit & { readonly json?: unknown },
) => Promise<Response>;

export type SignedInUser = AppClient & {
  readonly companyId: string;
  readonly userId: string;
  readonly email: string;
  /** As in the header. */
  readonly cookie: string;
};

/** Asks the app of a weir as its own pages do; without a cookie as a stranger. */
export function appClient(place: Pick<WeirPlace, 'app'>, cookie?: string): AppClient {
  return (path, { json, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (cookie !== undefined) headers.set('Cookie', cookie);
    if (!headers.has('Origin')) headers.set('Origin', `http://localhost:${place.app}`);
    if (json !== undefined) headers.set('Content-Type', 'application/json');
    const body = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) };
    return fetch(`http://127.0.0.1:${place.app}${path}`, { ...body, ...init, headers });
  };
}

async function companyOf(catalog: Catalog, sourceId: string | undefined): Promise<string> {
  const source = sourceId === undefined ? null : await catalog.directory.source(sourceId);
  if (source) return source.companyId;
  const company = { companyId: randomUUID(), name: 'Of a user', timezone: 'UTC' };
  await catalog.directory.createCompany(company, Date.now());
  return company.companyId;
}
