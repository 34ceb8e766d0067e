import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings, SettingsError } from '../../src/start/settings.ts';

describe('settings (DECISIONS 9)', () => {
  test('defaults need nothing', () => {
    const settings = readSettings({ PATH: '/bin' });
    expect(settings.WEIR_LISTEN).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(settings.baseUrl).toBe('http://127.0.0.1:8080');
    expect(settings.WEIR_LISTEN_SHARED).toBe('0');
    expect(settings.artifactsUrl).toMatch(/^file:\/\/.*\/data\/artifacts$/);
  });

  test('a value can come out of a file', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'weir-')), 'key');
    writeFileSync(path, `${'ab'.repeat(32)}\n`);
    expect(readSettings({ WEIR_SECRET_KEY_FILE: path }).WEIR_SECRET_KEY).toBe('ab'.repeat(32));
  });

  test.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['an unknown name', { WEIR_LISTNE: 'x' }, /^WEIR_LISTNE is no setting of weir$/],
    ['a bad address', { WEIR_LISTEN: '8080' }, /^WEIR_LISTEN: must be host:port$/],
    ['a port that is none', { WEIR_LISTEN: 'a:70000' }, /^WEIR_LISTEN: /],
    ['another scheme', { WEIR_ARTIFACTS_URL: 'ftp://x' }, /^WEIR_ARTIFACTS_URL: must start with/],
    ['a short secret key', { WEIR_SECRET_KEY: 'abc' }, /^WEIR_SECRET_KEY: must be 64 hex digits$/],
    ['sharing that is neither', { WEIR_LISTEN_SHARED: 'yes' }, /^WEIR_LISTEN_SHARED: /],
    [
      'a database of Redis without a number',
      { WEIR_REDIS_URL: 'redis://:secret@127.0.0.1/first' },
      /^WEIR_REDIS_URL: must look like redis\[s\]:\/\/.*\/database\]$/,
    ],
    ['a file that is not there', { WEIR_BASE_URL_FILE: '/nowhere' }, /^WEIR_BASE_URL_FILE: /],
    ['both forms', { WEIR_DEMO: '1', WEIR_DEMO_FILE: '/x' }, /are both set$/],
  ])('%s stops the start with one line', (_, env, line) => {
    expect(() => readSettings(env)).toThrow(SettingsError);
    expect(() => readSettings(env)).toThrow(line);
  });
});
