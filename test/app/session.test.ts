import { hash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserPermission } from '../../src/catalog/users-contract.ts';
import type {
  Assertion,
  CreationOptions,
  RequestOptions,
} from '../../src/domain/api/app/passkey.ts';
import { Authenticator, type Lie } from '../support/authenticator.ts';
import { type AppClient, appClient, signedIn } from '../support/signed-in.ts';
import { TestWeir } from '../support/test-weir.ts';
import { weirCommand } from '../support/weir-command.ts';

const hourMs = 3_600_000;
let weir: TestWeir;
let origin: string;

beforeAll(async () => {
  weir = await TestWeir.start({ WEIR_TRUSTED_PROXIES: '127.0.0.1' });
  origin = `http://localhost:${weir.running.place.app}`;
});

afterAll(() => weir?.stop());

describe('an invitation (weir user invite)', () => {
  test('makes a passkey, signs in, and serves once', async () => {
    const companyId = await company('Acme');
    const args = ['--company', companyId, '--email', 'ada@example.com'];
    const made = await weir.running.cli<Record<string, unknown>>('user', 'invite', ...args);
    expect(made).toEqual({
      url: expect.stringMatching(new RegExp(`^${origin}/invitation#[A-Za-z0-9_-]{43}$`)),
      ends_at: expect.any(String),
      user_id: expect.any(String),
      ...{ email: 'ada@example.com', permissions: ['sources.read'] },
      created_at: expect.any(String),
    });
    const endsIn = Date.parse(String(made.ends_at)) - Date.now();
    expect(Math.abs(endsIn - 24 * hourMs)).toBeLessThan(60_000);
    const token = String(made.url).split('#')[1]!;

    const told = await client()('/app/api/invitation', { json: { token } });
    expect(await told.json()).toEqual({
      ...{ email: 'ada@example.com', company: 'Acme', permissions: ['sources.read'] },
    });
    const authenticator = new Authenticator(origin);
    const options = await creationOptions(token);
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: 'ada@example.com' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const passkey = authenticator.create(options);
    const accepted = await client()('/app/api/invitation/accept', { json: { token, passkey } });
    expect(accepted.status).toBe(200);
    const session = {
      user: { email: 'ada@example.com', permissions: ['sources.read'] },
      company: { company_id: companyId, name: 'Acme', timezone: 'Asia/Tokyo' },
      fresh_until: expect.any(String),
      ...{ demo: false, api_url: weir.url },
    };
    expect(await accepted.json()).toEqual(session);
    expect(await (await client(cookieOf(accepted))('/app/api/session')).json()).toEqual(session);

    for (const path of ['', '/options', '/accept']) {
      const again = await client()(`/app/api/invitation${path}`, {
        json: path === '/accept' ? { token, passkey } : { token },
      });
      expect(again.status).toBe(404);
    }
    const entries = await weir.catalog.audit.list({ limit: 2 });
    expect(entries.map(({ actor, action, about }) => ({ actor, action, about }))).toEqual([
      {
        ...{ actor: made.user_id, action: 'invitation accept' },
        about: { company_id: companyId },
      },
      {
        ...{ actor: 'command line', action: 'user invite' },
        about: { company: companyId, email: 'ada@example.com', permissions: 'sources.read' },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain(token);
    expect(weir.running.log).not.toContain(token);
  });

  test('ends when its time is over, or another one was made', async () => {
    const companyId = await company();
    const over = await invite(companyId, { endsInMs: 0 });
    expect((await client()('/app/api/invitation', { json: { token: over } })).status).toBe(404);
    const email = 'bo@example.com';
    const first = await invite(companyId, { email });
    await invite(companyId, { email });
    expect((await client()('/app/api/invitation', { json: { token: first } })).status).toBe(404);
    expect((await client()('/app/api/invitation', { json: { token: 'x' } })).status).toBe(404);
  });

  test('is used by one of two who take it at once', async () => {
    const token = await invite(await company());
    const passkeys = [await creationOptions(token), await creationOptions(token)].map((options) =>
      new Authenticator(origin).create(options),
    );
    const accepted = await Promise.all(
      passkeys.map((passkey) =>
        client()('/app/api/invitation/accept', { json: { token, passkey } }),
      ),
    );
    expect(accepted.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('takes no passkey made for another link, elsewhere, or without a check', async () => {
    const companyId = await company();
    const [token, other] = [await invite(companyId), await invite(companyId)];
    const lies: Lie[] = [
      { client: { origin: 'http://localhost:1' } },
      { client: { crossOrigin: true } },
      { client: { type: 'webauthn.get' } },
      { rpId: 'example.com' },
      { verified: false },
    ];
    const accept = async (options: CreationOptions, lie: Lie = {}) => {
      const passkey = new Authenticator(origin).create(options, lie);
      const answer = await client()('/app/api/invitation/accept', { json: { token, passkey } });
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    const refused = { status: 403, code: 'passkey_refused' };
    for (const lie of lies) {
      expect(await accept(await creationOptions(token), lie)).toMatchObject(refused);
    }
    expect(await accept(await creationOptions(other))).toMatchObject(refused);
    const notForThis = await requestOptions();
    const { challenge } = notForThis;
    expect(await accept({ ...(await creationOptions(token)), challenge })).toMatchObject(refused);
    expect(await accept(await creationOptions(token))).toMatchObject({ status: 200 });
  });
});

describe('a sign-in', () => {
  test('is by a passkey alone, with a cookie of this app; it ends the session before', async () => {
    const { authenticator, session: earlier, email } = await member();
    const options = await requestOptions();
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    expect(options).not.toHaveProperty('allowCredentials');
    const passkey = authenticator.get(options);
    const answer = await earlier('/app/api/sign-in', { json: { passkey } });
    expect(await answer.json()).toMatchObject({ user: { email } });
    const kept = /^weir=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/;
    expect(answer.headers.get('Set-Cookie')).toMatch(kept);
    expect((await earlier('/app/api/session')).status).toBe(401);
    expect((await client(cookieOf(answer))('/app/api/session')).status).toBe(200);
  });

  test('answers a challenge once, and only the challenge that was given', async () => {
    const { authenticator } = await member();
    const twice = authenticator.get(await requestOptions());
    const both = await Promise.all([signIn(twice), signIn(twice)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
    const options = await requestOptions();
    expect((await signIn(authenticator.get(options))).status).toBe(200);
    await refused(authenticator.get(options));
    const challenge = randomBytes(32).toString('base64url');
    await refused(authenticator.get({ ...options, challenge }));
    const over = await requestOptions();
    const taken = (await weir.catalog.users.takeChallenge(over.challenge, Date.now()))!;
    await weir.catalog.users.putChallenge({ ...taken, endsAt: Date.now() }, Date.now());
    await refused(authenticator.get(over));
  });

  test.each<[string, Lie]>([
    ['another origin', { client: { origin: 'http://localhost:1' } }],
    ['a page within another page', { client: { crossOrigin: true } }],
    ['another ceremony', { client: { type: 'webauthn.create' } }],
    ['another name', { rpId: 'example.com' }],
    ['nobody checked', { verified: false }],
    ['another user', { userHandle: Buffer.from('somebody').toString('base64url') }],
  ])('is refused with %s', async (_, lie) => {
    const { authenticator } = await member();
    await refused(authenticator.get(await requestOptions(), lie));
  });

  test('is refused with a counter that stands still, as that of a copy does', async () => {
    const { authenticator } = await member();
    expect((await signIn(authenticator.get(await requestOptions(), { counter: 5 }))).status).toBe(
      200,
    );
    await refused(authenticator.get(await requestOptions(), { counter: 5 }));
    expect((await signIn(authenticator.get(await requestOptions()))).status).toBe(200);
  });

  test('is refused with a signature of another key, and with an unknown passkey', async () => {
    const [one, other] = [await member(), await member()];
    const [mine] = one.authenticator.passkeys;
    const [theirs] = other.authenticator.passkeys;
    const forged = { ...theirs!, key: mine!.key, counter: 9 };
    await refused(one.authenticator.assert(forged, await requestOptions()));
    const unknown = { ...mine!, id: randomBytes(16) };
    await refused(one.authenticator.assert(unknown, await requestOptions()));
    expect((await signIn(one.authenticator.get(await requestOptions()))).status).toBe(200);
  });

  test('is refused to a removed user, whose session ends at once', async () => {
    const { authenticator, session, companyId, email } = await member();
    const args = ['--company', companyId, '--email', email.toUpperCase()];
    await weir.running.cli('user', 'remove', ...args);
    expect((await session('/app/api/session')).status).toBe(401);
    await refused(authenticator.get(await requestOptions()));
    expect((await weirCommand(weir.running.env(), 'user', 'remove', ...args)).code).toBe(1);
  });
});

describe('a session', () => {
  test('ends by signing out, for who has the cookie still', async () => {
    const { session } = await member();
    const answer = await session('/app/api/sign-out', { method: 'POST' });
    expect(answer.headers.get('Set-Cookie')).toMatch(/^weir=; Max-Age=0; /);
    expect((await session('/app/api/session')).status).toBe(401);
    expect((await session('/app/api/sign-out', { method: 'POST' })).status).toBe(200);
  });

  test('ends after twelve hours, and with a cookie that is none', async () => {
    const user = await signedIn(weir);
    expect((await user('/app/api/session')).status).toBe(200);
    const token = randomBytes(32).toString('base64url');
    const start = Date.now() - 12 * hourMs;
    const old = { hash: hash('sha256', token, 'buffer'), userId: user.userId };
    await weir.catalog.users.startSession({ ...old, endsAt: start + 12 * hourMs }, start);
    for (const cookie of [
      `weir=${token}`,
      'weir=',
      'weir=x',
      `other=${token}`,
      user.cookie.slice(1),
    ]) {
      const answer = await client(cookie)('/app/api/session');
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
        ...[401, 'sign_in_needed'],
      ]);
    }
    const among = `a=b; ${user.cookie}; weirs=x`;
    expect((await client(among)('/app/api/session')).status).toBe(200);
  });

  test('leaves nothing in the data directory that would open it', async () => {
    const { cookie } = await signedIn(weir);
    const { readFileSync } = await import('node:fs');
    for (const name of ['catalog.db', 'catalog.db-wal']) {
      const bytes = readFileSync(`${weir.running.place.dataDir}/${name}`);
      expect(bytes.includes(cookie.slice('weir='.length)), name).toBe(false);
    }
  });

  test('changes something for requests of the app’s own pages only', async () => {
    const { session } = await member();
    for (const other of [
      'http://localhost:1',
      `http://127.0.0.1:${origin.split(':')[2]}`,
      'null',
    ]) {
      const headers = { Origin: other };
      const answer = await session('/app/api/sign-out', { method: 'POST', headers });
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'origin_refused' });
    }
    expect((await session('/app/api/session')).status).toBe(200);
  });
});

describe('another check of the passkey', () => {
  test('opens keys and secrets for five minutes, which use does not extend', async () => {
    const stale = await signedIn(weir, { fresh: false });
    const read = async (user: AppClient) =>
      ((await (await user('/app/api/session')).json()) as { fresh_until: string | null })
        .fresh_until;
    expect(await read(stale)).toBeNull();
    const { authenticator, email, companyId } = await member();
    const again = await signedIn(weir, { fresh: false, email, companyId });
    expect(await read(again)).toBeNull();
    const options = await confirmOptions(again);
    expect(options.allowCredentials).toHaveLength(1);
    const passkey = authenticator.get(options);
    const answer = await again('/app/api/confirm', { json: { passkey } });
    expect(answer.status).toBe(200);
    const until = (await read(again))!;
    expect(Math.abs(Date.parse(until) - Date.now() - 5 * 60_000)).toBeLessThan(20_000);
    expect(await read(again)).toBe(until);
    const entry = (await weir.catalog.audit.list({ limit: 1 }))[0]!;
    expect(entry).toMatchObject({ actor: again.userId, action: 'confirm' });
  });

  test('is by a passkey of the same user, to a challenge made for that', async () => {
    const [one, other] = [await member(), await member()];
    const confirm = async (passkey: Assertion) =>
      (await one.session('/app/api/confirm', { json: { passkey } })).status;
    const [theirs] = other.authenticator.passkeys;
    const forThem = other.authenticator.assert(theirs!, await confirmOptions(one.session));
    expect(await confirm(forThem)).toBe(403);
    const [mine] = one.authenticator.passkeys;
    const toTheirs = one.authenticator.assert(mine!, await confirmOptions(other.session));
    expect(await confirm(toTheirs)).toBe(403);
    const toSignIn = one.authenticator.assert(mine!, await requestOptions());
    expect(await confirm(toSignIn)).toBe(403);
    await refused(one.authenticator.get(await confirmOptions(one.session)));
    const unchecked = { verified: false };
    const options = await confirmOptions(one.session);
    expect(await confirm(one.authenticator.get(options, unchecked))).toBe(403);
    expect(await confirm(one.authenticator.get(await confirmOptions(one.session)))).toBe(200);
    expect((await client()('/app/api/confirm/options', { method: 'POST' })).status).toBe(401);
  });
});

test('strangers of a network wait after 30 tries; others and users do not', async () => {
  const [crowd, else_] = [client(undefined, '198.51.100.7'), client(undefined, '192.0.2.7')];
  const begin = (who: AppClient) => who('/app/api/sign-in/options', { method: 'POST' });
  const statuses = await Promise.all(
    Array.from({ length: 35 }, async () => (await begin(crowd)).status),
  );
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(33);
  const refusal = await begin(crowd);
  expect(refusal.status).toBe(429);
  expect(Number(refusal.headers.get('Retry-After'))).toBe(1);
  expect(await refusal.json()).toMatchObject({ code: 'too_many_tries' });
  expect((await begin(else_)).status).toBe(200);
  const user = await signedIn(weir);
  expect((await user('/app/api/confirm/options', { method: 'POST' })).status).toBe(200);
});

let networks = 0;

/** Without an address of its own, one of a network that nobody else here has. */
function client(cookie?: string, address = `203.0.${++networks}.7`): AppClient {
  const ask = appClient(weir.running.place, cookie);
  return (path, init = {}) =>
    ask(path, { ...init, headers: { 'X-Forwarded-For': address, ...(init.headers as object) } });
}

async function company(name = 'A company'): Promise<string> {
  const companyId = randomUUID();
  const about = { companyId, name, timezone: 'Asia/Tokyo' };
  await weir.catalog.directory.createCompany(about, Date.now());
  return companyId;
}

/** @returns the link's token */
async function invite(
  companyId: string,
  { email = `${randomUUID()}@example.com`, endsInMs = hourMs } = {},
  permissions: readonly UserPermission[] = ['sources.manage'],
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const made = { hash: hash('sha256', token, 'buffer'), endsAt: Date.now() + endsInMs };
  const who = { userId: randomUUID(), companyId, email, permissions };
  await weir.catalog.users.invite({ ...who, ...made }, Date.now());
  return token;
}

/** Somebody with a passkey, who is signed in. */
async function member() {
  const email = `${randomUUID()}@example.com`;
  const companyId = await company();
  const token = await invite(companyId, { email });
  const authenticator = new Authenticator(origin);
  const own = client();
  const passkey = authenticator.create(await creationOptions(token, own));
  const answer = await own('/app/api/invitation/accept', { json: { token, passkey } });
  expect(answer.status).toBe(200);
  return { authenticator, session: client(cookieOf(answer)), email, companyId };
}

async function optionsOf<T>(what: string, who: AppClient, json: object): Promise<T> {
  return (await (await who(`/app/api/${what}/options`, { json })).json()) as T;
}

function creationOptions(token: string, who = client()): Promise<CreationOptions> {
  return optionsOf('invitation', who, { token });
}

function requestOptions(): Promise<RequestOptions> {
  return optionsOf('sign-in', client(), {});
}

function confirmOptions(who: AppClient): Promise<RequestOptions> {
  return optionsOf('confirm', who, {});
}

function signIn(passkey: Assertion): Promise<Response> {
  return client()('/app/api/sign-in', { json: { passkey } });
}

async function refused(passkey: Assertion): Promise<void> {
  const answer = await signIn(passkey);
  expect(answer.status).toBe(403);
  expect(answer.headers.get('Set-Cookie')).toBeNull();
  expect(await answer.json()).toMatchObject({ code: 'passkey_refused' });
}

function cookieOf(answer: Response): string {
  return answer.headers.get('Set-Cookie')!.split(';')[0]!;
}
