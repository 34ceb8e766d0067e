import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { secretKey } from '../../src/start/secret-key.ts';
import { readSettings, SettingsError } from '../../src/start/settings.ts';

const root = mkdtempSync(join(tmpdir(), 'weir-secret-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const settingsIn = (name: string, more: NodeJS.ProcessEnv = {}) =>
  readSettings({ WEIR_DATA_DIR: join(root, name), ...more });

describe('the key of the signing secrets (DECISIONS 9)', () => {
  test('is the setting where there is one, and no file is made then', () => {
    const settings = settingsIn('set', { WEIR_SECRET_KEY: 'aB'.repeat(32) });
    expect(secretKey(settings)).toEqual(Buffer.alloc(32, 0xab));
    expect(() => statSync(settings.dataDir)).toThrow('ENOENT');
  });

  test('is made once, random, in a file that only its owner can read', () => {
    const settings = settingsIn('made');
    const key = secretKey(settings);
    expect(key).toHaveLength(32);
    expect(secretKey(settings)).toEqual(key);
    const path = join(settings.dataDir, 'secret.key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(`${key.toString('hex')}\n`);
    expect(readdirSync(settings.dataDir)).toEqual(['secret.key']);
    expect(secretKey(settingsIn('other'))).not.toEqual(key);
  });

  test('is the same for eight processes that need it first at the same moment', async () => {
    const settings = settingsIn('race');
    const startAt = Date.now() + 2_500;
    const file = new URL('../../src/start/secret-key.ts', import.meta.url).href;
    const program = `
      const { secretKey } = await import(${JSON.stringify(file)});
      while (Date.now() < ${startAt});
      const settings = { dataDir: ${JSON.stringify(settings.dataDir)} };
      process.stdout.write(secretKey(settings).toString('hex'));`;
    const keys = await Promise.all(Array.from({ length: 8 }, () => outputOf(program)));
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(keys).size).toBe(1);
    expect(secretKey(settings).toString('hex')).toBe(keys[0]);
    expect(readdirSync(settings.dataDir)).toEqual(['secret.key']);
  });

  test.each([
    ['', /does not hold 64 hex digits$/],
    ['ab'.repeat(31), /does not hold 64 hex digits$/],
    [`${'ab'.repeat(32)}\nmore`, /does not hold 64 hex digits$/],
  ])('is never made anew over a file that holds something else: %j', (text, line) => {
    const settings = settingsIn('damaged');
    mkdirSync(settings.dataDir, { recursive: true });
    const path = join(settings.dataDir, 'secret.key');
    writeFileSync(path, text);
    expect(() => secretKey(settings)).toThrow(SettingsError);
    expect(() => secretKey(settings)).toThrow(line);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('that cannot be read or made is one clear line', () => {
    const settings = settingsIn('folder');
    mkdirSync(join(settings.dataDir, 'secret.key'), { recursive: true });
    expect(() => secretKey(settings)).toThrow(/^the key file .* cannot be read or made: EISDIR$/);
    writeFileSync(join(root, 'file'), '');
    expect(() => secretKey(settingsIn('file'))).toThrow(/cannot be read or made: ENOTDIR$/);
  });

  test('must be a setting where the catalog is on Postgres', () => {
    for (const scheme of ['postgres', 'postgresql']) {
      const env = {
        WEIR_CATALOG_URL: `${scheme}://u:p@127.0.0.1/weir`,
        WEIR_CLICKHOUSE_URL: 'http://127.0.0.1:8123',
      };
      expect(() => readSettings(env)).toThrow(SettingsError);
      expect(() => readSettings(env)).toThrow(/^WEIR_SECRET_KEY is required .* Postgres$/);
      const settings = readSettings({ ...env, WEIR_SECRET_KEY: '00'.repeat(32) });
      expect(secretKey(settings)).toEqual(Buffer.alloc(32));
    }
  });
});

async function outputOf(program: string): Promise<string> {
  const args = ['--no-warnings', '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  await once(child, 'close');
  return text;
}
