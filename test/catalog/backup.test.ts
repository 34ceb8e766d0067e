import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { backupCatalog, openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { claimFor, seedSource, store, tempCatalog } from './support.ts';

test('a backup is the whole catalog at one moment, while receipts go on', async () => {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: true });
  const { sourceId } = await seedSource(catalog);
  const sequences: number[] = [];
  let writing = true;
  const writer = (async () => {
    while (writing) sequences.push(await store(catalog, claimFor(sourceId)));
  })();
  const file = join(dirname(place.path), 'copy.db');
  for (let round = 0; round < 5; round++) {
    const before = sequences.at(-1) ?? 0;
    const { standing, bytes } = await backupCatalog(place.url, file);
    expect(standing.sequence).toBeGreaterThanOrEqual(before);
    expect((await readFile(file)).length).toBe(bytes);

    // One file is all of it, and it can be gone on with.
    expect(await readdir(dirname(file))).not.toContain('copy.db-wal');
    const check = new Sqlite(file, { readonly: true });
    expect(check.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    check.close();
    const path = join(dirname(place.path), `restored-${round}.db`);
    await writeFile(path, await readFile(file));
    const restored = await openCatalog(sqliteUrl(path), { thread: false });
    expect(await restored.upkeep.standing()).toEqual(standing);
    const list = await restored.deliveries.list(sourceId, { limit: 100_000 });
    expect(list).toHaveLength(standing.sequence);
    await store(restored, claimFor(sourceId));
    await restored.close();
  }
  writing = false;
  await writer;
  const { catalogId } = await catalog.upkeep.standing();
  const last = await backupCatalog(place.url, file);
  expect(last.standing).toMatchObject({ catalogId, sequence: sequences.at(-1) });
  await catalog.close();
  await place.remove();
});

test('a backup that fails leaves the one before, and nothing else', async () => {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: false });
  const folder = join(dirname(place.path), 'backups');
  await mkdir(folder);
  const file = join(folder, 'copy.db');
  await backupCatalog(place.url, file);
  const before = await readFile(file);
  const absent = join(dirname(place.path), randomUUID(), 'copy.db');
  await expect(backupCatalog(place.url, absent)).rejects.toThrow(/directory does not exist/);
  // Left there by one that was killed.
  await writeFile(`${file}.part`, 'half of a copy');
  await writeFile(`${file}.part-journal`, 'and its journal');
  const broken = sqliteUrl(join(dirname(place.path), 'no catalog.db'));
  await expect(backupCatalog(broken, file)).rejects.toThrow(/cannot be opened/);
  expect(await readdir(folder)).toEqual(['copy.db']);
  expect((await readFile(file)).equals(before)).toBe(true);
  await chmod(file, 0o400);
  await backupCatalog(place.url, file);
  expect(await readdir(folder)).toEqual(['copy.db']);
  await catalog.close();
  await place.remove();
});

test('a catalog on Postgres has tools of its own', () => {
  expect(() => backupCatalog('postgres://u:p@h/db', '/x')).toThrow(/pg_dump/);
});
