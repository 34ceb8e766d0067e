import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints } from '../../src/domain/api/app/all.ts';
import type { Endpoint } from '../../src/domain/api/app/endpoint.ts';
import { type AppClient, appClient, type SignedInUser, signedIn } from '../support/signed-in.ts';
import { TestWeir } from '../support/test-weir.ts';

/** What every address of the app API keeps to, whatever it does: asked by who may not. */

const endpoints = allEndpoints.map(({ endpoint }) => endpoint);
const forUsers = endpoints.filter(({ needs }) => needs !== 'nobody');
const named = (list: readonly Endpoint[]) =>
  list.map((one) => [`${one.method} ${one.path}`, one] as const);

let weir: TestWeir;
let manager: SignedInUser;
let stale: SignedInUser;
let reader: SignedInUser;

beforeAll(async () => {
  weir = await TestWeir.start();
  manager = await signedIn(weir);
  const { companyId } = manager;
  stale = await signedIn(weir, { companyId, fresh: false });
  reader = await signedIn(weir, { companyId, permissions: ['sources.read'] });
});

afterAll(() => weir?.stop());

describe('without a session', () => {
  test.each(named(forUsers))('%s answers 401', async (_, endpoint) => {
    expect(await ask(appClient(weir.running.place), endpoint)).toEqual([401, 'sign_in_needed']);
  });
});

describe('with sources.read alone', () => {
  const managing = forUsers.filter(({ needs }) => needs === 'sources.manage');
  test.each(named(managing))('%s answers 403', async (_, endpoint) => {
    expect(await ask(reader, endpoint)).toEqual([403, 'permission_needed']);
  });
});

describe('with a passkey check that was six minutes ago', () => {
  test.each(named(endpoints.filter(({ fresh }) => fresh)))(
    '%s answers 403',
    async (_, endpoint) => {
      expect(await ask(stale, endpoint)).toEqual([403, 'fresh_sign_in_needed']);
      expect((await ask(manager, endpoint))[1]).not.toBe('fresh_sign_in_needed');
    },
  );

  test('nothing of keys and secrets is made', () => {
    const fresh = endpoints.filter((one) => one.fresh).map(({ path }) => path);
    const making = /\/(keys|secrets?)(\/|$)/;
    const open = endpoints.filter(({ method, path }) => method === 'POST' && making.test(path));
    expect(open.map(({ path }) => path).filter((path) => !fresh.includes(path))).toEqual([]);
  });
});

describe('from a page of another origin', () => {
  const changing = endpoints.filter(({ method }) => method === 'POST');
  test.each(named(changing))('%s answers 403', async (_, endpoint) => {
    for (const Origin of ['https://example.com', 'null']) {
      const answer = await ask(manager, endpoint, { headers: { Origin } });
      expect(answer).toEqual([403, 'origin_refused']);
    }
  });
});

test('what a new invitation grants, or takes away, counts from the next request on', async () => {
  const { companyId, email } = manager;
  const user = await signedIn(weir, { companyId });
  const invite = ['user', 'invite', '--company', companyId, '--email', user.email.toUpperCase()];
  await weir.running.cli(...invite);
  const managing = forUsers.find(({ needs }) => needs === 'sources.manage')!;
  expect(await ask(user, managing)).toEqual([403, 'permission_needed']);
  await weir.running.cli(...invite, '--permissions', 'sources.manage,sources.read');
  expect((await ask(user, managing))[1]).not.toBe('permission_needed');
  const listed = await weir.running.cli<object[]>('user', 'list', '--company', companyId);
  expect(listed).toHaveLength(4);
  expect(listed[0]).toMatchObject({ email, permissions: ['sources.manage'] });
  const granted = { email: user.email, permissions: ['sources.read', 'sources.manage'] };
  expect(listed[3]).toMatchObject({ user_id: user.userId, ...granted });
});

/** @returns status and code, whatever the addressed thing would have been */
async function ask(
  user: AppClient,
  { method, path }: Endpoint,
  init: RequestInit = {},
): Promise<[number, string | undefined]> {
  const address = path.replaceAll(/\{\w+\}/g, () => randomUUID());
  const body = method === 'POST' ? { json: {} } : {};
  const answer = await user(address, { ...init, ...body });
  const { code } = (await answer.json()) as { code?: string };
  return [answer.status, code];
}
