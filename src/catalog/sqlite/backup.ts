import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { upkeepReads } from '../upkeep.ts';
import type { Standing } from '../upkeep-contract.ts';
import { connectReader, kyselyOn } from './connect.ts';
import { sqliteDialect } from './dialect.ts';

/** A copy of a catalog as it was at one moment. */
export interface CatalogCopy {
  readonly bytes: number;
  readonly standing: Standing;
}

/** More pages than any catalog has: in steps, each commit in between would begin it anew. */
const allPages = 0x7fff_ffff;

/**
 * Copies a catalog to one file while others read and write it.
 *
 * Ordering: the copy is made beside its final name, turned into one file without a log, durable,
 * and only then renamed, which is durable when this resolves. So a file of that name is always a
 * whole copy, the one before or this one.
 */
export async function backupSqlite(path: string, file: string): Promise<CatalogCopy> {
  const part = `${file}.part`;
  await removePart(part);
  try {
    const source = connectReader(path);
    try {
      await source.backup(part, { progress: () => allPages });
    } finally {
      source.close();
    }
    const standing = await standingOf(part);
    const bytes = await sync(part);
    await rename(part, file);
    await sync(dirname(file));
    return { bytes, standing };
  } catch (error) {
    await removePart(part);
    throw error;
  }
}

async function standingOf(part: string): Promise<Standing> {
  const copy = new Sqlite(part);
  try {
    copy.pragma('journal_mode = DELETE');
    return await upkeepReads({ db: kyselyOn(copy), dialect: sqliteDialect }).standing();
  } finally {
    copy.close();
  }
}

async function sync(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

async function removePart(part: string): Promise<void> {
  for (const end of ['', '-journal', '-wal', '-shm']) await rm(`${part}${end}`, { force: true });
}
