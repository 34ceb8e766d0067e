import { hash, randomBytes } from 'node:crypto';
import type { Directory } from '../catalog/catalog.ts';
import type { User, Users } from '../catalog/users-contract.ts';
import type { RequestHead } from '../http/head.ts';
import type { FindSession, SignedIn } from './session.ts';

/** From a sign-in until nobody is signed in any more, however much the app is used. */
export const sessionMs = 12 * 3_600_000;
const tokenBytes = 32;
const tokenForm = /^[A-Za-z0-9_-]{43}$/;

/** A fresh random text that a cookie or a link carries, and the hash that is kept of it. */
export function newToken(): { token: string; hash: Buffer } {
  const token = randomBytes(tokenBytes).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** SHA-256 of a token; null of a text that is none. */
export function hashOfToken(text: string): Buffer | null {
  return tokenForm.test(text) ? hashOf(text) : null;
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * The session's cookie: opaque, for no script, no other site and no longer than the session. On
 * https its name keeps other hosts of the domain from setting it (RFC 6265bis, section 4.1.3.2).
 */
export class SessionCookie {
  readonly name: string;
  readonly #attributes: string;

  /** @param appUrl as browsers reach the app */
  constructor(appUrl: string) {
    const secure = appUrl.startsWith('https:');
    this.name = secure ? '__Host-weir' : 'weir';
    this.#attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  }

  /** `Set-Cookie` that keeps the token for as long as the session. */
  keep(token: string): string {
    return `${this.name}=${token}; Max-Age=${sessionMs / 1_000}; ${this.#attributes}`;
  }

  /** `Set-Cookie` that takes the cookie away. */
  drop(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`;
  }

  /** The hash of the token that a request carries; null: it carries none. */
  hashIn(head: Pick<RequestHead, 'header'>): Buffer | null {
    const pairs = (head.header('Cookie') ?? '').split(';').map((pair) => pair.trim());
    const own = pairs.find((pair) => pair.startsWith(`${this.name}=`));
    return own === undefined ? null : hashOfToken(own.slice(this.name.length + 1));
  }
}

/** Asks the catalog at each request, so that a session that was ended opens nothing more. */
export function findInCatalog(users: Pick<Users, 'session'>, cookie: SessionCookie): FindSession {
  return async ({ head }, now) => {
    const sessionHash = cookie.hashIn(head);
    const session = sessionHash && (await users.session(sessionHash, now));
    return session && { ...session, sessionHash };
  };
}

/** Everybody looks at a demo deployment as one visitor of its company, without a sign-in. */
export function findVisitor(directory: Pick<Directory, 'company'>, companyId: string): FindSession {
  const userId = '00000000-0000-0000-0000-000000000000';
  const user: User = {
    ...{ userId, companyId, email: 'visitor', createdAt: 0 },
    permissions: ['sources.read'],
  };
  const never = { sessionHash: null, signedInAt: 0, endsAt: Number.MAX_SAFE_INTEGER };
  return async () => {
    const company = await directory.company(companyId);
    return company && { user, company, ...never };
  };
}

/**
 * Signs a user in, under a token of its own; what the browser was signed in by before ends.
 *
 * @returns the token
 */
export async function startSession(
  users: Pick<Users, 'startSession' | 'endSession'>,
  { userId }: User,
  before: SignedIn | null,
  now: number,
): Promise<string> {
  const { token, hash } = newToken();
  await users.startSession({ hash, userId, endsAt: now + sessionMs }, now);
  if (before?.sessionHash) await users.endSession(before.sessionHash);
  return token;
}
