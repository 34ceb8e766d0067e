import { mkdir, mkdtemp, open, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StoreNames } from '../../src/samples/engine/names.ts';

async function newStore(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'weir-names-'));
  onTestFinished(() => rm(root, { recursive: true }));
  return root;
}

/** How often anything is synced from now on. */
async function syncs() {
  const handle = await open('/dev/null');
  await handle.close();
  const spy = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
  onTestFinished(() => spy.mockRestore());
  return spy;
}

test('what changed is synced, and what stays as it was only once', async () => {
  const root = await newStore();
  const table = join(root, 'store', 'abc', 'a-table');
  await mkdir(join(table, 'all_1_1_0'), { recursive: true });
  const long = new Date(Date.now() - 60_000);
  const above = [root, join(root, 'store'), join(root, 'store', 'abc'), table];
  for (const directory of above) await utimes(directory, long, long);
  const sync = await syncs();
  const names = new StoreNames(root);
  await names.sync();
  // Those four; a part is ClickHouse's own to sync.
  expect(sync).toHaveBeenCalledTimes(4);
  await names.sync();
  expect(sync).toHaveBeenCalledTimes(4);
  await mkdir(join(table, 'all_2_2_0'));
  await names.sync();
  expect(sync).toHaveBeenCalledTimes(5);
  // It may have changed once more within the same tick of the file system's clock.
  await names.sync();
  expect(sync).toHaveBeenCalledTimes(6);
});

test('a directory whose sync failed is synced again; an absent store needs none', async () => {
  const root = await newStore();
  const long = new Date(Date.now() - 60_000);
  await utimes(root, long, long);
  const sync = await syncs();
  const names = new StoreNames(root);
  sync.mockRejectedValueOnce(new Error('EIO: i/o error, fsync'));
  await expect(names.sync()).rejects.toThrow('EIO');
  await names.sync();
  expect(sync).toHaveBeenCalledTimes(2);
  await new StoreNames(join(root, 'absent')).sync();
  expect(sync).toHaveBeenCalledTimes(2);
});
