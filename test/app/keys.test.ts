import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sender } from '../support/sender.ts';
import { type SignedInUser, signedIn } from '../support/signed-in.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { sendWebhook } from '../support/webhook.ts';
import { json, told } from './support.ts';

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const dayMs = 86_400_000;
const record = { day: '2026-03-01', amount: '1' };

describe('keys and secrets in the app', () => {
  let weir: TestWeir;
  let source: TestSource;
  let hook: TestSource;
  let ada: SignedInUser;
  let keys: string;
  let secrets: string;

  beforeAll(async () => {
    weir = await TestWeir.start();
    source = await weir.source();
    hook = await weir.source({ delivery: 'webhook' });
    ada = await signedIn(weir, { of: source.sourceId });
    keys = `/app/api/sources/${source.sourceId}/keys`;
    secrets = `/app/api/sources/${hook.sourceId}/secrets`;
  });
  afterAll(() => weir?.stop());

  const make = (body: object = {}, at = keys) =>
    json(ada(at, { json: { scope: 'read_write', ...body } }));
  const status = async (key: string) => (await new Sender(weir.url, key).push(record)).status;

  describe('a key', () => {
    test('is shown at its making, opens what it should, and is nowhere afterwards', async () => {
      const made = await make({ expires_days: 30, sandbox: true });
      const { access_key: text, ...shown } = made;
      expect(text).toMatch(/^wk_test_[A-Za-z0-9_-]{32}$/);
      expect(shown).toEqual({
        ...{ key_id: uuid, source_id: source.sourceId, scope: 'read_write', sandbox: true },
        ...{ created_at: instant, expires_at: instant, last_used_at: null, revoked_at: null },
        ...{ rotated_to: null, state: 'active' },
      });
      expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBe(30 * dayMs);
      expect(await status(text)).toBe(202);
      const listed = await (await ada(keys)).text();
      expect(listed).toContain(shown.key_id);
      expect(listed).not.toContain(text);
    });

    test('lives a year and is for production, unless it is said otherwise', async () => {
      const made = await make({ scope: 'write' });
      expect(made.access_key).toMatch(/^wk_live_/);
      expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(365 * dayMs);
    });

    test('that is rotated works on during its overlap, beside the new one', async () => {
      const old = await make();
      const rotate = `/app/api/keys/${old.key_id}/rotate`;
      const next = await json(ada(rotate, { json: { overlap_days: 2 } }));
      expect(next).toMatchObject({ scope: 'read_write', sandbox: false, state: 'active' });
      expect(await status(old.access_key)).toBe(202);
      expect(await status(next.access_key)).toBe(202);
      const { keys: all } = await json(ada(keys));
      expect(all[0].key_id).toBe(next.key_id);
      expect(all[1]).toMatchObject({
        key_id: old.key_id,
        state: 'ending',
        rotated_to: next.key_id,
      });
      expect(await told(ada(rotate, { json: { overlap_days: 2 } }))).toMatchObject({
        ...{ status: 409, reason: 'key_not_rotatable' },
      });
    });

    test('that is rotated without an overlap, or revoked, opens nothing more', async () => {
      const old = await make();
      const next = await json(
        ada(`/app/api/keys/${old.key_id}/rotate`, { json: { overlap_days: 0 } }),
      );
      expect(await status(old.access_key)).toBe(401);
      expect(await status(next.access_key)).toBe(202);
      const revoked = await json(ada(`/app/api/keys/${next.key_id}/revoke`, { json: {} }));
      expect(revoked).toMatchObject({ state: 'revoked', revoked_at: instant });
      expect(await status(next.access_key)).toBe(401);
    });

    test.each([
      ['scope', { scope: 'all' }],
      ['expires_days', { expires_days: 0 }],
      ['expires_days', { expires_days: 1.5 }],
    ])('with a wrong %s is refused', async (field, body) => {
      expect(await told(ada(keys, { json: { scope: 'read', ...body } }))).toMatchObject({
        ...{ status: 400, field },
      });
    });

    test('for a webhook source, of a sandbox, can only read', async () => {
      const at = `/app/api/sources/${hook.sourceId}/keys`;
      const body = { scope: 'write', sandbox: true };
      expect(await told(ada(at, { json: body }))).toMatchObject({
        ...{ status: 409, reason: 'webhook_sandbox_key', field: 'scope' },
      });
    });
  });

  describe('a secret', () => {
    test('is rotated: old and new both sign, the old one for a day more', async () => {
      const before = Date.now();
      const made = await json(ada(`${secrets}/rotate`, { json: {} }));
      expect(made.signing_secret).toMatch(/^whsec_/);
      const left = Date.parse(made.old_ends_at) - before;
      expect(Math.round(left / 1_000 / 60)).toBe(24 * 60);
      const body = (n: number) => `{"day":"2026-03-0${n}","amount":"1"}`;
      expect((await sendWebhook(hook, { body: body(1) })).status).toBe(202);
      const { signing_secret: secret } = made;
      expect((await sendWebhook(hook, { body: body(2), secret })).status).toBe(202);
      const { secrets: all } = await json(ada(secrets));
      expect(all).toEqual([
        { ...one('current'), ends_at: null },
        { ...one('ending'), ends_at: made.old_ends_at },
      ]);
      await expect
        .poll(async () => (await json(ada(secrets))).secrets[1].last_used_at, { timeout: 10_000 })
        .toEqual(instant);
    });

    test('is none of a source that is no webhook source', async () => {
      const at = `/app/api/sources/${source.sourceId}/secrets`;
      expect(await json(ada(at))).toEqual({ secrets: [] });
      expect(await told(ada(`${at}/rotate`, { json: {} }))).toMatchObject({
        ...{ status: 409, reason: 'not_a_webhook_source' },
      });
    });

    const one = (state: string) => ({
      ...{ secret_id: uuid, created_at: instant, state },
      last_used_at: expect.toSatisfy((at) => at === null || typeof at === 'string'),
    });
  });

  describe('who may', () => {
    let posts: [string, object][];
    beforeAll(async () => {
      const { key_id } = await make();
      posts = [
        [keys, { scope: 'read' }],
        [`/app/api/keys/${key_id}/rotate`, { overlap_days: 1 }],
        [`/app/api/keys/${key_id}/revoke`, {}],
        [`${secrets}/rotate`, {}],
      ];
    });

    const each = async (user: SignedInUser, expected: object) => {
      const count = (await json(ada(keys))).keys.length;
      for (const [path, body] of posts) {
        expect(await told(user(path, { json: body })), path).toMatchObject(expected);
      }
      expect((await json(ada(keys))).keys).toHaveLength(count);
    };

    test('not who checked the passkey six minutes ago', async () => {
      const stale = await signedIn(weir, { of: source.sourceId, fresh: false });
      await each(stale, { status: 403, code: 'fresh_sign_in_needed' });
    });

    test('not who only reads', async () => {
      const reader = await signedIn(weir, { of: source.sourceId, permissions: ['sources.read'] });
      await each(reader, { status: 403, code: 'permission_needed' });
      expect((await reader(keys)).status).toBe(200);
    });

    test('not who is of another company: there it is not', async () => {
      const stranger = await signedIn(weir);
      await each(stranger, { status: 404, code: 'not_found' });
      for (const path of [keys, secrets]) {
        expect(await told(stranger(path))).toMatchObject({ status: 404 });
      }
    });

    test('nor a page of another origin', async () => {
      const headers = { Origin: 'https://elsewhere.example' };
      for (const [path, body] of posts) {
        expect(await told(ada(path, { json: body, headers }))).toMatchObject({
          ...{ status: 403, code: 'origin_refused' },
        });
      }
    });
  });

  test('each act is in the audit log, with who and what, and never a key or secret', async () => {
    const { key_id, access_key: first } = await make({ scope: 'write' });
    const { access_key: second } = await json(
      ada(`/app/api/keys/${key_id}/rotate`, { json: { overlap_days: 3 } }),
    );
    await ada(`/app/api/keys/${key_id}/revoke`, { json: {} });
    const { signing_secret: secret } = await json(ada(`${secrets}/rotate`, { json: {} }));
    const entries = await weir.catalog.audit.list({ limit: 4 });
    const by = { actor: ada.userId, about: { company_id: ada.companyId } };
    expect(entries).toMatchObject([
      { ...by, action: 'secret rotate', about: { source_id: hook.sourceId } },
      { ...by, action: 'key revoke', about: { key_id } },
      { ...by, action: 'key rotate', about: { key_id, overlap_days: 3 } },
      { ...by, action: 'key create', about: { source_id: source.sourceId, scope: 'write' } },
    ]);
    const log = JSON.stringify(await weir.catalog.audit.list({ limit: 1_000 }));
    for (const text of [first, second, secret]) expect(log).not.toContain(text);
  });
});
