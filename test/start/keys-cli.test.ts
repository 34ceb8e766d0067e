import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../src/catalog/audit-contract.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import type { Field, Scope } from '../../src/domain/nouns.ts';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';
import { accepted, Sender } from '../support/sender.ts';
import { weirCommand } from '../support/weir-command.ts';

const nobody = '01a1fb42-67ec-725a-ba18-bed032c51381';
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const secretText = expect.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/);
const dayMs = 86_400_000;
const fields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'amount', role: 'value', metric: 'amount' },
];

interface KeyAnswer {
  readonly key_id: string;
  readonly access_key: string;
  readonly expires_at: string;
}

interface SourceAnswer {
  readonly source_id: string;
  readonly signing_secret?: string;
}

describe('keys and secrets from the command line, beside a running service', () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir keys-'));
  const shape = join(dir, 'shape.json');
  writeFileSync(shape, JSON.stringify({ fields }));
  let weir: RunningWeir;
  let catalog: Catalog;
  let company: string;

  beforeAll(async () => {
    const [api, app, ops] = await freePorts(3);
    const dataDir = join(dir, 'data');
    weir = new RunningWeir({ dataDir, api: api!, app: app!, ops: ops! });
    await weir.start();
    catalog = await openCatalog(sqliteUrl(join(dataDir, 'catalog.db')), { thread: false });
    const args = ['company', 'create', '--name', 'Test', '--timezone', 'Europe/Berlin'];
    company = (await weir.cli<{ company_id: string }>(...args)).company_id;
    const metric = ['--key', 'amount', '--name', 'Amount', '--unit', 'EUR'];
    await weir.cli('metric', 'declare', '--company', company, ...metric);
  });

  afterAll(async () => {
    await catalog?.close();
    await weir?.end();
    rmSync(dir, { recursive: true, force: true });
  });

  describe('key rotate', () => {
    test('answers a key with the same scope and sandbox, for a year', async () => {
      const source_id = await seedSource();
      const old = await seedKey(source_id, 'read', true);
      const before = Date.now();
      const key = await rotate(old.key_id, 30);
      expect(key).toEqual({
        ...{ key_id: uuid, source_id, scope: 'read', sandbox: true },
        access_key: expect.stringMatching(/^wk_test_/),
        ...{ created_at: instant, expires_at: instant, last_used_at: null, revoked_at: null },
      });
      expect(key.key_id).not.toBe(old.key_id);
      expect(Date.parse(key.expires_at) - before).toBeGreaterThanOrEqual(365 * dayMs);
      expect(Date.parse(key.expires_at) - Date.now()).toBeLessThanOrEqual(365 * dayMs);
      const [kept] = await weir.cli<KeyAnswer[]>('key', 'list', source_id);
      const overlap = Date.parse(kept!.expires_at) - before;
      expect(kept!.key_id).toBe(old.key_id);
      expect(Math.round(overlap / dayMs)).toBe(30);
    });

    test('lets both keys work during the overlap, and marks nothing else', async () => {
      const source_id = await seedSource();
      const old = await seedKey(source_id, 'read_write');
      const key = await rotate(old.key_id, 1);
      for (const [i, text] of [old.access_key, key.access_key].entries()) {
        const answer = await new Sender(weir.url, text).push({
          day: `2026-03-0${i + 1}`,
          amount: '1',
        });
        expect(accepted(answer).sandbox).toBe(false);
      }
    });

    test('without an overlap ends the old key with its next request', async () => {
      const source_id = await seedSource();
      const old = await seedKey(source_id, 'read');
      expect(await status(old.access_key)).toBe(200);
      const key = await rotate(old.key_id, 0);
      expect(await status(old.access_key)).toBe(401);
      expect(await status(key.access_key)).toBe(200);
    });

    test('is refused in one line for keys that are revoked, rotated or not there', async () => {
      const source_id = await seedSource();
      const revoked = await seedKey(source_id, 'read');
      await catalog.directory.revokeKey(revoked.key_id, Date.now());
      const rotated = await seedKey(source_id, 'read');
      await rotate(rotated.key_id, 3);
      for (const id of [revoked.key_id, rotated.key_id, nobody]) {
        await refused(1, 'key', 'rotate', id, '--overlap-days', '1');
      }
      expect(await catalog.directory.keys(source_id)).toHaveLength(3);
    });

    test('needs a number of days', async () => {
      for (const days of [[], ['--overlap-days', '-1'], ['--overlap-days', 'x']]) {
        const ran = await weirCommand(weir.env(), 'key', 'rotate', nobody, ...days);
        expect([ran.code, ran.stdout]).toEqual([2, '']);
      }
    });
  });

  describe('signing secrets', () => {
    test('are shown once, when a source becomes a webhook source, and open it', async () => {
      const made = await createSource('webhook');
      expect(made).toEqual({
        ...{ source_id: uuid, name: 'A source', delivery: 'webhook', shape_version: 1 },
        signing_secret: secretText,
      });
      expect(await send(made.source_id, made.signing_secret!)).toBe(202);
      expect(await send(made.source_id, `${made.signing_secret}x`)).toBe(404);
      const again = await save(made.source_id, '--delivery', 'webhook');
      expect(again).toEqual({
        ...{ source_id: made.source_id, name: 'A source', delivery: 'webhook', shape_version: 2 },
      });
      expect(await send(made.source_id, made.signing_secret!)).toBe(202);
    });

    test('rotate: the old one works on, a second rotation ends it at once', async () => {
      const { source_id, signing_secret: first } = await createSource('webhook');
      const { signing_secret: second, ...rest } = await rotateSecret(source_id);
      expect([second, rest]).toEqual([secretText, { source_id }]);
      expect(await send(source_id, first!)).toBe(202);
      expect(await send(source_id, second!)).toBe(202);
      const { signing_secret: third } = await rotateSecret(source_id);
      expect(await send(source_id, first!)).toBe(404);
      expect(await send(source_id, second!)).toBe(202);
      expect(await send(source_id, third!)).toBe(202);
      const [current, old] = await catalog.directory.secrets(source_id);
      expect(current!.endsAt).toBeNull();
      expect(old!.endsAt! - current!.createdAt).toBe(24 * 3_600_000);
    });

    test('end when the source leaves the way, and never come back', async () => {
      const { source_id, signing_secret: first } = await createSource('webhook');
      expect(await send(source_id, first!)).toBe(202);
      expect(await save(source_id, '--delivery', 'push')).not.toHaveProperty('signing_secret');
      expect(await send(source_id, first!)).toBe(404);
      const { signing_secret: second } = await save(source_id, '--delivery', 'webhook');
      expect(second).toEqual(secretText);
      expect(await send(source_id, first!)).toBe(404);
      expect(await send(source_id, second!)).toBe(202);
    });

    test('work on after a restart: their key file stays', async () => {
      const { source_id, signing_secret } = await createSource('webhook');
      const path = join(weir.place.dataDir, 'secret.key');
      const before = readFileSync(path, 'utf8');
      await weir.end();
      await weir.start();
      expect(await send(source_id, signing_secret!)).toBe(202);
      expect(readFileSync(path, 'utf8')).toBe(before);
    });

    test('cannot be rotated where there are none', async () => {
      await refused(1, 'secret', 'rotate', await seedSource());
      await refused(1, 'secret', 'rotate', nobody);
    });

    test('leave nothing of themselves in the data directory', async () => {
      const { signing_secret } = await createSource('webhook');
      for (const name of ['catalog.db', 'catalog.db-wal', 'secret.key']) {
        const bytes = readFileSync(join(weir.place.dataDir, name));
        expect(bytes.includes(signing_secret!.slice('whsec_'.length)), name).toBe(false);
      }
    });
  });

  test('a sandbox key of a webhook source can only read', async () => {
    const { source_id } = await createSource('webhook');
    for (const scope of ['write', 'read_write']) {
      await refused(1, 'key', 'create', source_id, '--scope', scope, '--sandbox');
    }
    const key = await createKey(source_id, '--scope', 'read', '--sandbox');
    expect(key.access_key).toMatch(/^wk_test_/);
  });

  test.each([
    ['source', 'save', 'acme'],
    ['secret', 'rotate', 'acme'],
    ['key', 'rotate', 'acme', '--overlap-days', '1'],
    ['key', 'revoke', `${nobody}0`],
    ['key', 'list', ''],
    ['delivery', 'show', 'acme'],
    ['metric', 'declare', '--company', 'acme', '--key', 'k', '--name', 'n', '--unit', 'u'],
  ])('%s %s with %j, which is no id, is wrong usage in one line', async (...args) => {
    const ran = await refused(2, ...args);
    expect(ran.stderr).toContain('is no id; an id is a uuid');
  });

  describe('the audit log (DECISIONS 10)', () => {
    test('has each use, reading ones too, with arguments and plain options', async () => {
      const { source_id } = await createSource('webhook');
      const key = await createKey(source_id, '--scope', 'read', '--expires-days', '9');
      const next = await rotate(key.key_id, 2);
      await weir.cli('key', 'list', source_id.toUpperCase());
      const { signing_secret } = await rotateSecret(source_id);
      await weirCommand(weir.env(), 'delivery', 'list', source_id, '--limit', '3');
      const about = [
        ['source create', { company, name: 'A source', delivery: 'webhook', shape }],
        ['key create', { source: source_id, scope: 'read', expires_days: 9 }],
        ['key rotate', { key: key.key_id, overlap_days: 2 }],
        ['key list', { source: source_id }],
        ['secret rotate', { source: source_id }],
        ['delivery list', { source: source_id, limit: 3 }],
      ];
      const entries = await newest(about.length);
      expect(entries.map((entry) => [entry.action, entry.about])).toEqual(about);
      expect(new Set(entries.map((entry) => entry.actor))).toEqual(new Set(['command line']));
      for (const entry of entries) expect(Math.abs(Date.now() - entry.at)).toBeLessThan(60_000);
      const text = JSON.stringify(entries);
      for (const hidden of [key.access_key, next.access_key, signing_secret!, '"fields"']) {
        expect(text).not.toContain(hidden);
      }
    });

    test('has a failed command as failed, with its code', async () => {
      await refused(1, 'key', 'revoke', nobody);
      await refused(1, 'delivery', 'download', nobody);
      await refused(2, 'company', 'create', '--name', 'n', '--timezone', 'Mars/Base');
      const mars = { name: 'n', timezone: 'Mars/Base' };
      expect((await newest(6)).map((entry) => [entry.action, entry.about])).toEqual([
        ['key revoke', { key: nobody }],
        ['key revoke', { key: nobody, failed: 'key_not_found' }],
        ['delivery download', { artifact: nobody }],
        ['delivery download', { artifact: nobody, failed: 'delivery_not_found' }],
        ['company create', mars],
        ['company create', { ...mars, failed: 'wrong_usage' }],
      ]);
    });

    test('never has a key or a secret that was typed in the wrong place', async () => {
      const { source_id, signing_secret } = await createSource('webhook');
      const { access_key } = await seedKey(source_id, 'read');
      await save(source_id, '--name', `${access_key} ${signing_secret}`);
      const [entry] = await newest(1);
      expect(entry!.about).toEqual({ source: source_id, name: 'wk_live_… whsec_…' });
    });

    test('comes first: a command that cannot be noted does nothing', async () => {
      const { key_id, access_key } = await seedKey(await seedSource(), 'read');
      const data = join(weir.place.dataDir, 'catalog.db');
      const { default: Sqlite } = await import('better-sqlite3');
      const db = new Sqlite(data);
      db.exec(`create trigger full before insert on audit_log
        begin select raise(abort, 'no room'); end`);
      try {
        const ran = await refused(1, 'key', 'revoke', key_id);
        expect(ran.stderr).toContain('no room');
        expect(await status(access_key)).toBe(200);
      } finally {
        db.exec('drop trigger full');
        db.close();
      }
    });
  });

  async function newest(limit: number): Promise<AuditEntry[]> {
    return (await catalog.audit.list({ limit })).reverse();
  }

  /** A command that must end with this code, one line on stderr and nothing on stdout. */
  async function refused(code: number, ...args: readonly string[]) {
    const ran = await weirCommand(weir.env(), ...args);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toMatch(/^weir: [^\n]+\n$/);
    return ran;
  }

  /** What a test only needs to be there is made in the catalog: each command takes its time. */
  async function seedSource(): Promise<string> {
    const sourceId = randomUUID();
    const about = {
      companyId: company,
      name: 'A source',
      delivery: 'push',
      format: 'csv',
    } as const;
    await catalog.directory.createSource({ sourceId, ...about, fields, savedBy: 'a' }, Date.now());
    return sourceId;
  }

  async function seedKey(sourceId: string, scope: Scope, sandbox = false) {
    const access_key = formatKey(sandbox ? 'test' : 'live', randomBytes(keyRandomBytes));
    const hash = createHash('sha256').update(access_key).digest();
    const [keyId, now] = [randomUUID(), Date.now()];
    const expiresAt = now + 365 * dayMs;
    await catalog.directory.createKey({ keyId, sourceId, hash, scope, sandbox, expiresAt }, now);
    return { key_id: keyId, access_key };
  }

  function createSource(delivery: string): Promise<SourceAnswer> {
    const named = ['--company', company, '--name', 'A source'];
    return weir.cli('source', 'create', ...named, '--delivery', delivery, '--shape', shape);
  }

  function save(sourceId: string, ...args: readonly string[]): Promise<SourceAnswer> {
    return weir.cli('source', 'save', sourceId, ...args);
  }

  function createKey(...args: readonly string[]): Promise<KeyAnswer> {
    return weir.cli('key', 'create', ...args);
  }

  function rotate(keyId: string, overlapDays: number): Promise<KeyAnswer> {
    return weir.cli('key', 'rotate', keyId, '--overlap-days', String(overlapDays));
  }

  function rotateSecret(sourceId: string): Promise<SourceAnswer> {
    return weir.cli('secret', 'rotate', sourceId);
  }

  async function status(accessKey: string): Promise<number> {
    return (await new Sender(weir.url, accessKey).get('/v1/samples')).status;
  }

  /** Signs as the specification says ("Webhook signature"). @returns the status */
  async function send(sourceId: string, secret: string): Promise<number> {
    const [t, id] = [Math.floor(Date.now() / 1000), randomUUID()];
    const body = JSON.stringify({ day: '2026-03-01', amount: '1', id });
    const v1 = createHmac('sha256', secret).update(`${t}.${id}.${body}`).digest('hex');
    const answer = await fetch(`${weir.url}/v1/webhooks/${sourceId}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Service-Signature': `t=${t},v1=${v1}`,
        'Service-Delivery-Id': id,
      },
      body,
    });
    await answer.arrayBuffer();
    return answer.status;
  }
});
