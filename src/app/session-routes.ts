import type { UserOfCompany } from '../catalog/users-contract.ts';
import type { AnswerOf } from '../domain/api/app/endpoint.ts';
import * as api from '../domain/api/app/session.ts';
import { AppError } from '../domain/app-errors.ts';
import type { RateRule } from '../domain/rates.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Route } from '../http/routes.ts';
import { audited } from './audited.ts';
import type { AppParts } from './parts.ts';
import { Passkeys } from './passkeys.ts';
import { serveEndpoint } from './serve-endpoint.ts';
import { freshMs, isFresh, type SignedIn } from './session.ts';
import { hashOfToken, startSession } from './sessions.ts';

/**
 * Signing in, out and up. Passkeys and links cannot be guessed; the rate keeps strangers from
 * filling the catalog with challenges.
 */
const strangersRate: RateRule = { perMinute: 60, burst: 30 };
const usersRate: RateRule = { perMinute: 30, burst: 15 };

export function sessionRoutes(parts: AppParts): Route[] {
  const { cookie, catalog } = parts;
  const passkeys = new Passkeys(catalog.users, parts.appUrl);
  return [
    serveEndpoint(parts, api.readSession, async ({ by, now }) => sessionView(parts, by, now)),
    ...signInRoutes(parts, passkeys),
    ...confirmRoutes(parts, passkeys),
    ...invitationRoutes(parts, passkeys),
    serveEndpoint(parts, api.signOut, async ({ session, headers, now }) => {
      headers['Set-Cookie'] = cookie.drop();
      const { sessionHash } = session ?? {};
      if (!session || !sessionHash) return {};
      await noted(parts, 'sign out', session, now, () => catalog.users.endSession(sessionHash));
      return {};
    }),
  ];
}

function signInRoutes(parts: AppParts, passkeys: Passkeys): Route[] {
  const { users, directory } = parts.catalog;
  return [
    serveEndpoint(parts, api.signInOptions, async ({ exchange, now }) => {
      await takeStrangersTry(parts, exchange);
      return passkeys.requestOptions(null, now);
    }),
    serveEndpoint(parts, api.signIn, async ({ exchange, body, session, headers, now }) => {
      await takeStrangersTry(parts, exchange);
      const user = await passkeys.check(body.passkey, null, now);
      const company = (await directory.company(user.companyId))!;
      const token = await noted(parts, 'sign in', { user, company }, now, () =>
        startSession(users, user, session, now),
      );
      headers['Set-Cookie'] = parts.cookie.keep(token);
      return sessionView(parts, { user, company, signedInAt: now }, now);
    }),
  ];
}

function confirmRoutes(parts: AppParts, passkeys: Passkeys): Route[] {
  const { users } = parts.catalog;
  return [
    serveEndpoint(parts, api.confirmOptions, async ({ by, now }) => {
      await takeTry(parts, `app user ${by.user.userId}`, usersRate);
      return passkeys.requestOptions(by.user, now);
    }),
    serveEndpoint(parts, api.confirm, async ({ by, body, now }) => {
      await takeTry(parts, `app user ${by.user.userId}`, usersRate);
      await passkeys.check(body.passkey, by.user, now);
      const { sessionHash } = by;
      if (sessionHash) {
        await noted(parts, 'confirm', by, now, () => users.noteSignIn(sessionHash, now));
      }
      return sessionView(parts, { ...by, signedInAt: now }, now);
    }),
  ];
}

function invitationRoutes(parts: AppParts, passkeys: Passkeys): Route[] {
  const { users } = parts.catalog;
  return [
    serveEndpoint(parts, api.readInvitation, async ({ exchange, body, now }) => {
      await takeStrangersTry(parts, exchange);
      const { user, company } = (await invited(parts, body.token, now)).who;
      const permissions = [...user.permissions];
      return { email: user.email, company: company.name, permissions };
    }),
    serveEndpoint(parts, api.invitationOptions, async ({ exchange, body, now }) => {
      await takeStrangersTry(parts, exchange);
      return passkeys.creationOptions((await invited(parts, body.token, now)).who, now);
    }),
    serveEndpoint(parts, api.acceptInvitation, async (ask) => {
      const { exchange, body, session, headers, now } = ask;
      await takeStrangersTry(parts, exchange);
      const { who, hash } = await invited(parts, body.token, now);
      const passkey = await passkeys.made(body.passkey, who.user, now);
      const { user, company } = who;
      const token = await noted(parts, 'invitation accept', who, now, async () => {
        if (!(await users.acceptInvitation(hash, passkey, now))) throw noInvitation();
        return startSession(users, user, session, now);
      });
      headers['Set-Cookie'] = parts.cookie.keep(token);
      return sessionView(parts, { user, company, signedInAt: now }, now);
    }),
  ];
}

/** Who it is comes out only within these endpoints, so the audit log is told here. */
function noted<T>(
  { audit }: AppParts,
  action: string,
  by: UserOfCompany,
  now: number,
  work: () => Promise<T>,
): Promise<T> {
  return audited(audit, { action, by, params: {}, body: undefined, now }, work);
}

/** @throws AppError 404: unknown, used and over are one answer */
async function invited(
  { catalog }: AppParts,
  token: string,
  now: number,
): Promise<{ who: UserOfCompany; hash: Buffer }> {
  const hash = hashOfToken(token);
  const who = hash && (await catalog.users.invitation(hash, now));
  if (!hash || !who) throw noInvitation();
  return { who, hash };
}

function noInvitation(): AppError {
  const message = 'This link was used already, or is over. Ask who runs weir for a new one.';
  return new AppError('not_found', message);
}

function sessionView(
  { demo, apiUrl }: AppParts,
  by: Pick<SignedIn, 'user' | 'company' | 'signedInAt'>,
  now: number,
): AnswerOf<typeof api.readSession> {
  const { user, company, signedInAt } = by;
  const { companyId: company_id, name, timezone } = company;
  const freshUntil = isFresh(by, now) ? new Date(signedInAt + freshMs).toISOString() : null;
  return {
    user: { email: user.email, permissions: [...user.permissions] },
    company: { company_id, name, timezone },
    ...{ fresh_until: freshUntil, demo, api_url: apiUrl },
  };
}

function takeStrangersTry(parts: AppParts, { head, remoteAddress }: Exchange): Promise<void> {
  const forwardedFor = head.listHeader('X-Forwarded-For');
  const network = parts.addresses.networkOf({ remoteAddress, forwardedFor });
  return takeTry(parts, `app stranger ${network}`, strangersRate);
}

/** @throws AppError 429 */
async function takeTry({ rates }: AppParts, bucket: string, rule: RateRule): Promise<void> {
  const { admitted, retryAfterSeconds } = await rates.take(bucket, rule);
  if (admitted) return;
  const headers = { 'Retry-After': String(retryAfterSeconds) };
  throw new AppError('too_many_tries', 'Too many tries. Wait a moment.', { headers });
}
