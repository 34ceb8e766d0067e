import { hash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Passkeys } from '../../src/app/passkeys.ts';
import { isFresh } from '../../src/app/session.ts';
import { findVisitor, SessionCookie } from '../../src/app/sessions.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import type { User } from '../../src/catalog/users-contract.ts';
import { seedCompany, tempCatalog } from '../catalog/support.ts';
import { Authenticator } from '../support/authenticator.ts';

const minuteMs = 60_000;
const appUrl = 'https://weir.example.com:8443';

describe('passkeys of an app on https', () => {
  let catalog: Catalog;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const place = await tempCatalog();
    catalog = await openCatalog(place.url, { thread: false });
    remove = place.remove;
  });
  afterAll(async () => {
    await catalog.close();
    await remove();
  });

  test('belong to its name, and are checked for its origin, port included', async () => {
    const { passkeys, authenticator, user } = await member(appUrl, 0);
    const options = await passkeys.requestOptions(null, 0);
    expect(options.rpId).toBe('weir.example.com');
    expect(await passkeys.check(authenticator.get(options), null, 1)).toEqual(user);
    for (const origin of ['https://weir.example.com', 'http://weir.example.com:8443']) {
      const elsewhere = await passkeys.requestOptions(null, 0);
      const answer = authenticator.get(elsewhere, { client: { origin } });
      await expect(passkeys.check(answer, null, 1)).rejects.toMatchObject({ status: 403 });
    }
  });

  test('answer within five minutes', async () => {
    const { passkeys, authenticator, user } = await member(appUrl, 0);
    const [last, late] = [5 * minuteMs - 1, 5 * minuteMs];
    const inTime = authenticator.get(await passkeys.requestOptions(null, 0));
    expect(await passkeys.check(inTime, null, last)).toEqual(user);
    const tooLate = authenticator.get(await passkeys.requestOptions(null, 0));
    await expect(passkeys.check(tooLate, null, late)).rejects.toMatchObject({
      code: 'passkey_refused',
    });
  });

  test('are never looked for by a challenge that not every catalog can be asked for', async () => {
    const { passkeys, authenticator } = await member(appUrl, 0);
    const odd = { ...(await passkeys.requestOptions(null, 0)), challenge: '\0' };
    const takeChallenge = () => Promise.reject(new Error('the catalog was asked'));
    const asking = new Passkeys({ takeChallenge } as never, appUrl);
    await expect(asking.check(authenticator.get(odd), null, 0)).rejects.toMatchObject({
      code: 'passkey_refused',
    });
  });

  test('asked for again are those of the user; none is made twice', async () => {
    const { passkeys, authenticator, user } = await member(appUrl, 0);
    await member(appUrl, 0);
    const id = authenticator.passkeys[0]!.id.toString('base64url');
    const own = [{ id, type: 'public-key', transports: ['internal'] }];
    expect(await passkeys.requestOptions(user, 0)).toMatchObject({ allowCredentials: own });
    const company = (await catalog.directory.company(user.companyId))!;
    const options = await passkeys.creationOptions({ user, company }, 0);
    expect(options.excludeCredentials).toEqual(own);
  });

  async function member(url: string, now: number) {
    const company = await seedCompany(catalog);
    const passkeys = new Passkeys(catalog.users, url);
    const authenticator = new Authenticator(url);
    const { companyId } = company;
    const link = hash('sha256', randomBytes(32), 'buffer');
    const who = { userId: randomUUID(), companyId, email: `${randomUUID()}@example.com` };
    const invitation = {
      ...who,
      permissions: ['sources.read'],
      hash: link,
      endsAt: 9_000,
    } as const;
    const user: User = await catalog.users.invite(invitation, now);
    const made = authenticator.create(await passkeys.creationOptions({ user, company }, now));
    await catalog.users.acceptInvitation(link, await passkeys.made(made, user, now), now);
    return { passkeys, authenticator, user };
  }
});

describe('the cookie of a session', () => {
  const token = randomBytes(32).toString('base64url');
  const headOf = (cookie?: string) => ({ header: () => cookie });

  test('goes over https only, under a name that no other host can set', () => {
    const cookie = new SessionCookie(appUrl);
    const attributes = 'Path=/; HttpOnly; SameSite=Strict; Secure';
    expect(cookie.keep(token)).toBe(`__Host-weir=${token}; Max-Age=43200; ${attributes}`);
    expect(cookie.drop()).toBe(`__Host-weir=; Max-Age=0; ${attributes}`);
    expect(cookie.hashIn(headOf(`weir=${token}`))).toBeNull();
    expect(cookie.hashIn(headOf(`weir=x; __Host-weir=${token}`))).toEqual(
      hash('sha256', token, 'buffer'),
    );
    expect(cookie.hashIn(headOf())).toBeNull();
  });
});

test('a check opens keys and secrets for five minutes; one of the future opens nothing', () => {
  const signedInAt = 1_000;
  expect(isFresh({ signedInAt }, signedInAt)).toBe(true);
  expect(isFresh({ signedInAt }, signedInAt + 5 * minuteMs - 1)).toBe(true);
  expect(isFresh({ signedInAt }, signedInAt + 5 * minuteMs)).toBe(false);
  expect(isFresh({ signedInAt }, signedInAt - 1)).toBe(false);
});

test('the visitor of a demo deployment may read, and never counts as checked', async () => {
  const company = { companyId: randomUUID(), name: 'Demo', timezone: 'UTC' };
  const find = findVisitor({ company: async () => company }, company.companyId);
  const visitor = await find({} as never, Date.now());
  expect(visitor).toMatchObject({ company, user: { permissions: ['sources.read'] } });
  expect(isFresh(visitor!, Date.now())).toBe(false);
  const noDemo = findVisitor({ company: async () => null }, company.companyId);
  expect(await noDemo({} as never, Date.now())).toBeNull();
});
