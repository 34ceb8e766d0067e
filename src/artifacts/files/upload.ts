import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assert } from '../../std/assert.ts';
import { type ArtifactMeta, StoreAway, type Upload } from '../artifacts.ts';
import type { Directories } from './directories.ts';
import { storeError } from './errors.ts';
import { encodeSidecar, sidecarOf } from './meta.ts';

/** Where an upload's files lie before and after the commit. */
export interface UploadPlace {
  readonly root: string;
  readonly object: string;
  /** Of the body, in `<root>/tmp/`; the sidecar's is beside it. */
  readonly temp: string;
}

/**
 * One body on its way into the directory.
 *
 * Ordering: body and sidecar are written and fsynced under `tmp/`, side by side with making the
 * day's directory; then the sidecar is renamed, then the body, so that a visible body always has
 * its metadata; then one fsync of the directory makes both names durable. Only then the commit
 * returns. A segment is the same without a sidecar.
 *
 * Failure: the first failure loses the upload; every later call gets the same error. A failed
 * fsync is never tried again: the kernel may have thrown the pages away and report success the
 * second time. What a crash leaves in `tmp/` is removed by a later `prepare`; a sidecar whose body
 * was not renamed is never listed or read.
 */
export class FileUpload implements Upload {
  readonly #place: UploadPlace;
  readonly #length: number;
  readonly #meta: ArtifactMeta | null;
  readonly #directories: Directories;
  #handle: Promise<FileHandle> | null = null;
  #committing: Promise<void> | null = null;
  #begun = 0;
  #written = 0;
  #done = false;
  #lost: Error | null = null;

  /** @param meta null: there is no sidecar */
  constructor(
    place: UploadPlace,
    length: number,
    meta: ArtifactMeta | null,
    directories: Directories,
  ) {
    this.#place = place;
    this.#length = length;
    this.#meta = meta;
    this.#directories = directories;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const position = this.#begun;
    this.#begun += bytes.length;
    assert(this.#begun <= this.#length, 'an upload holds no more bytes than announced');
    await this.#attempt('writing a body', async () => {
      const handle = await this.#opened();
      for (let done = 0; done < bytes.length; ) {
        const rest = bytes.length - done;
        const { bytesWritten } = await handle.write(bytes, done, rest, position + done);
        assert(bytesWritten > 0, 'a write to a file takes at least a byte');
        done += bytesWritten;
      }
      this.#written += bytes.length;
    });
  }

  async commit(sha256: Buffer): Promise<void> {
    assert(sha256.length === 32, 'a SHA-256 is 32 bytes');
    assert(!this.#committing, 'an upload is committed once');
    assert(this.#lost || this.#written === this.#length, 'all announced bytes were written');
    this.#committing = this.#attempt('committing a body', () => this.#publish(sha256));
    await this.#committing;
  }

  async abort(): Promise<void> {
    // A commit under way is past recall; it ends first, and leaves nothing if it fails.
    await this.#committing?.catch(() => {});
    if (this.#done) return;
    this.#lost ??= new StoreAway('the upload was given up');
    await this.#discard();
  }

  async #publish(sha256: Buffer): Promise<void> {
    const { root, object, temp } = this.#place;
    const directory = dirname(object);
    const handle = await this.#opened();
    try {
      const meta = this.#meta;
      const sidecar = meta ? this.#writeSidecar(encodeSidecar(meta, sha256)) : Promise.resolve();
      await all([handle.sync(), sidecar, this.#directories.ensure(directory)]);
      if (meta) await rename(sidecarOf(temp), join(root, sidecarOf(object)));
      await rename(temp, join(root, object)).catch(async (error) => {
        // Nothing lists a sidecar without its body, so nothing would ever remove it. The body
        // first, should it have its name all the same.
        await Promise.allSettled([unlink(join(root, object))]);
        if (meta) await Promise.allSettled([unlink(join(root, sidecarOf(object)))]);
        throw error;
      });
      await all([this.#directories.sync(directory), handle.close()]);
      this.#done = true;
    } catch (error) {
      this.#directories.forget(directory);
      await this.#discard();
      throw error;
    }
  }

  async #writeSidecar(text: string): Promise<void> {
    const handle = await open(sidecarOf(this.#place.temp), 'wx');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  #opened(): Promise<FileHandle> {
    this.#handle ??= open(this.#place.temp, 'wx');
    return this.#handle;
  }

  async #attempt(doing: string, work: () => Promise<void>): Promise<void> {
    if (this.#lost) throw this.#lost;
    try {
      await work();
    } catch (error) {
      this.#lost ??= storeError(error, doing);
      throw this.#lost;
    }
  }

  /** Whatever fails here has failed before, or is left to `prepare`. */
  async #discard(): Promise<void> {
    const { temp } = this.#place;
    // Closing waits for the writes that are under way.
    const closed = this.#handle?.then((handle) => handle.close());
    await Promise.allSettled([closed]);
    if (this.#handle) await Promise.allSettled([unlink(temp), unlink(sidecarOf(temp))]);
  }
}

/** Waits for all, also when one fails, so that nothing goes on behind the caller's back. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}
