import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../std/sync-directory.ts';

/** A file system's clock may stand for some milliseconds, and names may come while it does. */
const settledMs = 1_000;

/**
 * Makes durable which tables and parts the engine's store has. ClickHouse syncs the files of a
 * part and the part's own directory, but not the directory in which the part gets its name: after
 * a power cut a part may be gone whose insert was answered.
 *
 * Only directories that changed since they were last synced are synced again. Parts themselves are
 * not looked into. A directory that is gone by then is nothing to keep.
 */
export class StoreNames {
  readonly #store: string;
  /** When a directory was last changed that is synced. */
  readonly #synced = new Map<string, number>();

  constructor(store: string) {
    this.#store = store;
  }

  /** Resolves when every name that is there now is durable. */
  async sync(): Promise<void> {
    // `metadata` names the databases, `store/<3 letters>/<uuid>` is one of them or a table.
    const stores = join(this.#store, 'store');
    const groups = await below(stores);
    const tables = (await Promise.all(groups.map(below))).flat();
    const above = [this.#store, join(this.#store, 'metadata'), stores];
    await Promise.all([...above, ...groups, ...tables].map((one) => this.#syncOne(one)));
  }

  async #syncOne(directory: string): Promise<void> {
    const found = await unlessGone(stat(directory));
    if (!found || this.#synced.get(directory) === found.mtimeMs) return;
    const isSettled = Date.now() - found.mtimeMs > settledMs;
    await unlessGone(syncDirectory(directory));
    if (isSettled) this.#synced.set(directory, found.mtimeMs);
  }
}

async function below(directory: string): Promise<string[]> {
  const entries = await unlessGone(readdir(directory, { withFileTypes: true }));
  const directories = (entries ?? []).filter((entry: Dirent) => entry.isDirectory());
  return directories.map(({ name }) => join(directory, name));
}

async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
