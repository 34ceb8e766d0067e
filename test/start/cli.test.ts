import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';
import { accepted, Sender } from '../support/sender.ts';
import { manyRequests } from '../support/test-weir.ts';
import { type Ran, weirCommand } from '../support/weir-command.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const nobody = '01a1fb42-67ec-725a-ba18-bed032c51381';
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const wide = {
  fields: [
    { name: 'day', role: 'period' },
    { name: 'amount', role: 'value', metric: 'amount' },
  ],
};

describe('the command line beside a running service (DECISIONS 10)', () => {
  // A space, a percent sign and a letter beyond ASCII: addresses are made of this path.
  const dir = mkdtempSync(join(tmpdir(), 'weir cli %41 ü-'));
  const shape = file('shape.json', wide);
  let weir: RunningWeir;
  let company: string;

  beforeAll(async () => {
    const [api, app, ops] = await freePorts(3);
    const dataDir = join(dir, 'data');
    const place = { dataDir, api: api!, app: app!, ops: ops! };
    weir = new RunningWeir({ ...place, settings: manyRequests });
    await weir.start();
    const made = await json<{ company_id: string }>(
      ...['company', 'create', '--name', 'Test', '--timezone', 'Europe/Berlin'],
    );
    company = made.company_id;
    await json(...declare('amount'));
  });

  afterAll(async () => {
    await weir?.end();
    rmSync(dir, { recursive: true, force: true });
  });

  test('company create answers its id', async () => {
    const args = ['company', 'create', '--name', 'Ünit & Co', '--timezone', 'Asia/Tokyo'];
    expect(await json(...args)).toEqual({
      company_id: expect.stringMatching(uuid),
      name: 'Ünit & Co',
      timezone: 'Asia/Tokyo',
    });
  });

  test('metric declare answers the key; again it renames; other labels are refused', async () => {
    const labels = ['--labels', 'place,device'];
    expect(await json(...declare('visits'), ...labels)).toEqual({
      ...{ key: 'visits', name: 'visits', unit: 'one' },
      labels: ['device', 'place'],
    });
    const renamed = await json(...declare('visits', 'Visits of a day'), ...labels);
    expect(renamed).toMatchObject({ key: 'visits', name: 'Visits of a day' });
    expectFailed(await command(...declare('visits'), '--labels', 'place'), 1);
  });

  test('source create and save answer the shape version', async () => {
    const created = await createSource('document');
    expect(created).toEqual({
      source_id: expect.stringMatching(uuid),
      name: 'A source',
      delivery: 'document',
      shape_version: 1,
    });
    const { source_id } = created;
    expect(await json('source', 'save', source_id)).toMatchObject({ shape_version: 2 });
    expect(await json('source', 'save', source_id, '--name', 'B', '--shape', shape)).toMatchObject({
      source_id,
      name: 'B',
      shape_version: 3,
      delivery: 'document',
    });
    expect(await json('source', 'save', source_id, '--delivery', 'push')).toMatchObject({
      ...{ delivery: 'push', shape_version: 4 },
    });
  });

  const badShapes: Record<string, readonly [unknown, string]> = {
    'an undeclared metric': [withAmount({ metric: 'nothing' }), 'amount'],
    'two periods': [{ fields: [...wide.fields, { name: 'b', role: 'period' }] }, 'b'],
    'a personal field with a role': [withAmount({ personal: true }), 'amount'],
    'a name twice': [{ fields: [...wide.fields, { name: 'day' }] }, 'day'],
  };
  test.each(Object.entries(badShapes))(
    'a shape with %s is refused, naming the field, and saves nothing',
    async (_, [bad, named]) => {
      const { source_id } = await createSource('push');
      const path = file('bad.json', bad);
      const ran = await command('source', 'save', source_id, '--shape', path);
      expectFailed(ran, 1);
      expect(ran.stderr).toMatch(new RegExp(`^weir: field "${named}": `));
      expect(await json('source', 'save', source_id)).toMatchObject({ shape_version: 2 });
    },
  );

  test('key create shows the key once; key list shows what is kept of it', async () => {
    const { source_id } = await createSource('push');
    const before = Date.now();
    const live = await createKey(source_id, '--scope', 'read_write');
    const sandbox = await createKey(
      ...([source_id, '--scope', 'write', '--sandbox', '--expires-days', '30'] as const),
    );
    expect(live).toEqual({
      ...{ key_id: expect.stringMatching(uuid), source_id, scope: 'read_write', sandbox: false },
      access_key: expect.stringMatching(/^wk_live_[A-Za-z0-9_-]{27,}$/),
      ...{ created_at: instant, expires_at: instant, last_used_at: null, revoked_at: null },
    });
    expect(sandbox.access_key).toMatch(/^wk_test_/);
    expect(daysFrom(before, live.expires_at)).toBe(365);
    expect(daysFrom(before, sandbox.expires_at)).toBe(30);
    const list = await json<Record<string, unknown>[]>('key', 'list', source_id);
    expect(list).toEqual([live, sandbox].map(({ access_key: _, ...kept }) => kept));
  });

  test('a revoked key is refused with its next request', async () => {
    const { source_id } = await createSource('push');
    const { key_id, access_key } = await createKey(source_id, '--scope', 'read_write');
    const sender = new Sender(weir.url, access_key);
    expect((await sender.get('/v1/samples')).status).toBe(200);
    const revoked = await json<{ revoked_at: string }>('key', 'revoke', key_id);
    expect(revoked).toMatchObject({ key_id, revoked_at: instant });
    expect((await sender.get('/v1/samples')).status).toBe(401);
    const again = await json<{ revoked_at: string }>('key', 'revoke', key_id);
    expect(again.revoked_at).toBe(revoked.revoked_at);
  });

  test('delivery list, show and download tell of deliveries, newest first', async () => {
    const { source_id } = await createSource('document');
    const { access_key } = await createKey(source_id, '--scope', 'read_write');
    const sender = new Sender(weir.url, access_key);
    const bodies = ['day,amount\n2026-03-01,1\n', 'day,amount\n2026-03-02,x\n2026-03-03,3\n'];
    const ids: string[] = [];
    for (const body of bodies) {
      const receipt = await sender.document(body);
      ids.push(accepted(receipt).artifact_id);
      await sender.settled(receipt);
    }
    const list = await json<Record<string, unknown>[]>('delivery', 'list', source_id);
    expect(list.map((one) => one.artifact_id)).toEqual([...ids].reverse());
    const newest = await json('delivery', 'list', source_id, '--limit', '1');
    expect(newest).toEqual(list.slice(0, 1));

    const all = join(dir, 'rejections.ndjson');
    const shown = await json('delivery', 'show', ids[1]!, '--rejections', all);
    const answer = await sender.get(`/v1/deliveries/${ids[1]}`);
    expect(shown).toEqual(JSON.parse(answer.text));
    expect(readFileSync(all, 'utf8')).toBe(
      `${JSON.stringify((shown as { rejections: unknown[] }).rejections[0])}\n`,
    );

    const out = join(dir, 'downloaded');
    expect((await command('delivery', 'download', ids[0]!, '--out', out)).code).toBe(0);
    expect(readFileSync(out, 'utf8')).toBe(bodies[0]);
    const { stdout } = await command('delivery', 'download', ids[1]!);
    expect(stdout).toBe(bodies[1]);
    const { sha256 } = shown as { sha256: string };
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(sha256);
  });

  test('without --json a person gets lines, not JSON', async () => {
    const { source_id } = await createSource('push');
    const { stdout, code } = await command('source', 'save', source_id);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^source_id +${source_id}\n`));
    const none = await command('key', 'list', source_id);
    expect(none.stdout).toBe('(none)\n');
  });

  const failing: readonly (readonly string[])[] = [
    ['source', 'save', nobody],
    ['key', 'create', nobody, '--scope', 'read'],
    ['key', 'revoke', nobody],
    ['delivery', 'show', nobody],
    ['delivery', 'download', nobody],
    ['metric', 'declare', '--company', nobody, '--key', 'k', '--name', 'n', '--unit', 'u'],
  ];
  test.each(failing.map((args) => [args.slice(0, 2).join(' '), args] as const))(
    '%s of something that is not there fails with exit code 1 and one line',
    async (_, args) =>
      expectFailed(await command(...args, ...(args[1] === 'download' ? [] : ['--json'])), 1),
  );

  test('a second service on the same addresses or data ends with one clear line', async () => {
    const env = { ...weir.env(), WEIR_DATA_DIR: join(dir, 'other') };
    const [sameData, samePort] = await Promise.all([
      weirCommand(weir.env(), 'serve'),
      weirCommand(env, 'serve'),
    ]);
    expect([sameData.code, samePort.code]).toEqual([1, 1]);
    expect(sameData.stderr).toMatch(/^weir: [^\n]+ is running on [^\n]+\n$/);
    expect(samePort.stderr).toMatch(/^weir: the address [^\n]+ cannot be listened on\n$/);
    expect((await fetch(`${weir.url}/v1/samples`)).status).toBe(401);
  });

  function command(...args: readonly string[]): Promise<Ran> {
    return weirCommand(weir.env(), ...args);
  }

  /** What a command prints with --json: one value and nothing else. */
  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await command(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    return JSON.parse(stdout) as T;
  }

  function declare(key: string, name = key): string[] {
    const about = ['--key', key, '--name', name, '--unit', 'one'];
    return ['metric', 'declare', '--company', company, ...about];
  }

  function createSource(delivery: string) {
    return json<{ source_id: string }>(
      ...['source', 'create', '--company', company, '--name', 'A source'],
      ...['--delivery', delivery, '--shape', shape],
    );
  }

  function createKey(...args: readonly string[]) {
    type Key = { key_id: string; access_key: string; expires_at: string };
    return json<Key>('key', 'create', ...args);
  }

  function file(name: string, content: unknown): string {
    const path = join(dir, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  }
});

describe('wrong usage (DECISIONS 10: exit code 2)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir-usage-'));
  const env = { PATH: process.env.PATH, WEIR_DATA_DIR: join(dir, 'data') };
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const source = ['source', 'create', '--company', nobody, '--name', 'n'];
  const wrong: Record<string, readonly string[]> = {
    'no command': [],
    'an unknown command': ['nothing'],
    'an unknown subcommand': ['key', 'nothing'],
    'an unknown option': ['company', 'create', '--name', 'n', '--timezone', 'UTC', '--x'],
    'a missing option': ['company', 'create', '--name', 'n'],
    'a missing argument': ['key', 'list'],
    'one argument too many': ['key', 'list', nobody, nobody],
    'an unknown timezone': ['company', 'create', '--name', 'n', '--timezone', 'Mars/Base'],
    'an empty name': ['company', 'create', '--name', ' ', '--timezone', 'UTC'],
    'an email that is none': ['user', 'invite', '--company', nobody, '--email', 'ada'],
    'an unknown permission': [
      ...['user', 'invite', '--company', nobody, '--email', 'a@b', '--permissions', 'all'],
    ],
    'a metric key in capitals': [
      ...['metric', 'declare', '--company', nobody, '--key', 'Key', '--name', 'n', '--unit', 'u'],
    ],
    'an unknown scope': ['key', 'create', nobody, '--scope', 'all'],
    'a lifetime of no days': ['key', 'create', nobody, '--scope', 'read', '--expires-days', '0'],
    'a limit that is no number': ['delivery', 'list', nobody, '--limit', 'x'],
    'an unknown way': [...source, '--delivery', 'mail', '--shape', 'x'],
    'an unknown format': [...source, '--delivery', 'push', '--format', 'pdf', '--shape', 'x'],
    'an unknown role': ['serve', '--roles', 'accept,cook'],
    'no role': ['serve', '--roles', ''],
    'no process': ['serve', '--processes', '0'],
    'a number of processes that is none': ['serve', '--processes', '2.5'],
    'a shape file that is not there': [...source, '--delivery', 'push', '--shape', '/nowhere'],
  };
  test.each(Object.entries(wrong))('%s', async (_, args) => {
    const ran = await weirCommand(env, ...args);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).not.toBe('');
    expect(ran.stderr).not.toMatch(/\n {4}at /);
  });

  const shapes: Record<string, string> = {
    'no JSON': '{',
    'no fields': '{}',
    'an unknown role': '{"fields":[{"name":"a","role":"x"}]}',
    'an unknown member': '{"fields":[{"name":"a","rol":"period"}]}',
  };
  test.each(Object.entries(shapes))('a shape file with %s', async (_, text) => {
    const path = join(dir, 'shape.json');
    writeFileSync(path, text);
    const args = [...source, '--delivery', 'push', '--shape', path, '--json'];
    expectFailed(await weirCommand(env, ...args), 2);
  });

  const settings: Record<string, readonly [Record<string, string>, RegExp]> = {
    'an unknown setting': [{ WEIR_LISTNE: 'x' }, /^weir: WEIR_LISTNE is no setting of weir\n$/],
    'a bad value': [{ WEIR_LISTEN: 'x' }, /^weir: WEIR_LISTEN: must be host:port\n$/],
    'a missing file': [{ WEIR_BASE_URL_FILE: '/nowhere' }, /^weir: WEIR_BASE_URL_FILE: .*\n$/],
  };
  test.each(Object.entries(settings))('%s is refused with one line', async (_, [more, line]) => {
    const ran = await weirCommand({ ...env, ...more }, 'serve');
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toMatch(line);
  });

  test('a data directory that cannot be made ends the command with one line', async () => {
    const args = ['company', 'create', '--name', 'n', '--timezone', 'UTC'];
    const ran = await weirCommand({ ...env, WEIR_DATA_DIR: '/proc/weir' }, ...args);
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toMatch(/^weir: ENOENT.*\/proc\/weir.*\n$/);
  });

  test('a setting may stand in a file (NAME_FILE)', async () => {
    const path = join(dir, 'data-dir');
    writeFileSync(path, `${join(dir, 'elsewhere')}\n`);
    const ran = await weirCommand(
      { PATH: process.env.PATH, WEIR_DATA_DIR_FILE: path },
      ...['company', 'create', '--name', 'n', '--timezone', 'UTC', '--json'],
    );
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(readFileSync(join(dir, 'elsewhere', 'catalog.db')).length).toBeGreaterThan(0);
  });

  test('--help exits 0 and lists every command and setting with its default', async () => {
    const { code, stdout } = await weirCommand(env, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
  });

  test('every command has its help', async () => {
    for (const args of [['serve'], ['source', 'create']]) {
      const { code, stdout } = await weirCommand(env, ...args, '--help');
      expect([code, stdout]).toEqual([0, expect.stringContaining(`weir ${args.join(' ')}`)]);
    }
  });
});

function withAmount(change: object) {
  const [day, amount] = wide.fields;
  return { fields: [day, { ...amount, ...change }] };
}

function expectFailed({ code, stdout, stderr }: Ran, expected: number): void {
  expect([code, stdout]).toEqual([expected, '']);
  expect(stderr).toMatch(/^weir: [^\n]+\n$/);
}

function daysFrom(start: number, end: string): number {
  return Math.round((Date.parse(end) - start) / 86_400_000);
}
