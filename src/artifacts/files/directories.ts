import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../../std/sync-directory.ts';
import { errno } from './errors.ts';

/** Days remembered as made; far more than are ever in use at once. */
const rememberedMax = 1_000;

/**
 * The day directories below a root, made durable once, and the fsync that makes renames durable.
 *
 * Ordering: a directory counts as made when the fsync of its parent has returned, also when
 * another process made it, whose fsync may not have returned yet.
 *
 * Failure: a failed fsync fails all who shared it and all who waited for the next one, because
 * the kernel may have dropped what it could not write. Nothing is asked of it again as if fine.
 */
export class Directories {
  readonly #root: string;
  readonly #made = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Makes a directory (relative to the root) and its parents durable, once. */
  ensure(directory: string): Promise<void> {
    if (directory === '.') return Promise.resolve();
    const made = this.#made.get(directory);
    if (made) return made;
    if (this.#made.size >= rememberedMax) this.#made.clear();
    const making = this.#make(directory).catch((error) => {
      this.#made.delete(directory);
      throw error;
    });
    this.#made.set(directory, making);
    return making;
  }

  /** Makes it again the next time, for it may have been removed. */
  forget(directory: string): void {
    for (let at = directory; at !== '.'; at = dirname(at)) this.#made.delete(at);
  }

  /** Makes the names in a directory durable. Calls share an fsync that has not begun yet. */
  sync(directory: string): Promise<void> {
    const next = this.#next.get(directory);
    if (next) return next;
    const running = this.#running.get(directory);
    if (!running) return this.#start(directory);
    const waiting = running
      .finally(() => this.#next.delete(directory))
      .then(() => this.#start(directory));
    this.#next.set(directory, waiting);
    return waiting;
  }

  #start(directory: string): Promise<void> {
    const running = syncDirectory(join(this.#root, directory)).finally(() => {
      this.#running.delete(directory);
    });
    this.#running.set(directory, running);
    return running;
  }

  async #make(directory: string): Promise<void> {
    const parent = dirname(directory);
    const path = join(this.#root, directory);
    await this.ensure(parent);
    await mkdir(path).catch((error) => {
      if (errno(error) !== 'EEXIST') throw error;
    });
    await this.sync(parent).catch(async (error) => {
      // Made anew the next time, so that there is something to sync; not if others use it.
      await rmdir(path).catch(() => {});
      throw error;
    });
  }
}

/** Makes a path and its absent parents, each durable in the one above. */
export async function makeDurable(path: string): Promise<void> {
  const first = (await mkdir(path, { recursive: true })) ?? path;
  for (let at = path; at.length >= first.length; at = dirname(at)) await syncDirectory(dirname(at));
}
