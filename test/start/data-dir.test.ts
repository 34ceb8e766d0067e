import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDataDir } from '../../src/start/data-dir.ts';

test('a data directory that weir makes is for its user alone, one that is there stays', () => {
  const root = mkdtempSync(join(tmpdir(), 'weir-data-dir-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const before = statSync(root).mode;
  const dataDir = join(root, 'deep', 'data');
  makeDataDir(dataDir);
  makeDataDir(dataDir);
  expect(existsSync(dataDir)).toBe(true);
  for (const made of [join(root, 'deep'), dataDir]) expect(statSync(made).mode & 0o777).toBe(0o700);
  expect(statSync(root).mode).toBe(before);
});
