import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes the data directory where it is missing, for this user alone, durable in the directory
 * above it; others may do so at the same time.
 *
 * One directory after the other: Node's own recursive way never ends where the system says ENOENT
 * to a directory whose parent is there, as it does below `/proc`.
 *
 * @throws Error when it cannot be made, or something else has its name
 */
export function makeDataDir(dataDir: string): void {
  const missing: string[] = [];
  for (let at = resolve(dataDir); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const path of missing) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    syncDirectory(dirname(path));
  }
}

/** Makes the names in a directory durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
