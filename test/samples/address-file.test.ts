import { mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readAddress, writeAddress } from '../../src/samples/engine/files.ts';
import { describeWith } from '../support/need.ts';
import { smallDiskOrSkip } from '../support/small-disk.ts';

const address = { url: 'http://engine', socketPath: '/s', username: 'u', password: 'p' };
const one = { ...address, database: 'd' };

test('an address that stays the same is not written again', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-address-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const file = async () => (await stat(join(dataDir, 'engine.json'))).ino;
  writeAddress(dataDir, one);
  const first = await file();
  writeAddress(dataDir, one);
  expect(await file()).toBe(first);
  writeAddress(dataDir, { ...one, socketPath: '/t' });
  expect(readAddress(dataDir)).toEqual({ ...one, socketPath: '/t' });
});

describeWith('on a full disk', await smallDiskOrSkip(), (mount) => {
  test('an address that cannot be written says where, and leaves nothing', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'weir-address-'));
    const disk = await mount(dataDir, 1 << 20);
    try {
      await disk.leave(0);
      const words = `the engine's address cannot be written to ${dataDir}/engine.json: ENOSPC`;
      expect(() => writeAddress(dataDir, one)).toThrow(words);
      expect(await readdir(dataDir)).toEqual(['filler']);
    } finally {
      await disk.unmount();
      await rmdir(dataDir);
    }
  });
});
