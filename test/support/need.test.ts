import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ensureMinio } from './minio.ts';
import { mustHave } from './need.ts';
import { need } from './needed.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('what a suite needs', () => {
  test('is handed to it when it is there', async () => {
    expect(await need('a server', async () => 7)).toEqual({ have: 7, reason: null });
  });

  test('is missing for a reason, which is shown', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const reason = 'a server cannot be had: nobody has one';
    const missing = await need('a server', async () => {
      throw new Error('nobody has one');
    });
    expect(missing).toEqual({ have: null, reason });
    expect(warned).toHaveBeenCalledWith(reason);
  });

  test('fails the run when missing with CI=true, and only then', () => {
    expect(mustHave({ CI: 'true' })).toBe(true);
    expect(mustHave({ CI: '' })).toBe(false);
    expect(mustHave({})).toBe(false);
  });
});

test('MinIO without a build and without go is missing in one clear line', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const cache = await mkdtemp(join(tmpdir(), 'weir-cache-'));
  const before = await readlink('.cache/minio').catch(() => null);
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('PATH', cache);
  await expect(ensureMinio()).rejects.toThrow('it must be built and there is no go command');
  expect(await readdir(join(cache, 'weir'))).toEqual([]);
  expect(await readlink('.cache/minio').catch(() => null)).toBe(before);
  await rm(cache, { recursive: true });
});
