import { randomUUID } from 'node:crypto';
import { access, constants, open, opendir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ArtifactPlace } from '../../domain/nouns.ts';
import {
  type ArtifactMeta,
  ArtifactMissing,
  type ArtifactStore,
  type ListedObject,
  type StoredBody,
  type Upload,
} from '../artifacts.ts';
import { assertBegin } from '../checked-meta.ts';
import { exactLength } from '../exact-length.ts';
import { assertObjectName, isObjectName, isSegmentName } from '../object-name.ts';
import { readContents, type Tail } from '../segment.ts';
import { Directories, makeDurable } from './directories.ts';
import { readError, storeError, unlessAbsent } from './errors.ts';
import { decodeSidecar, sidecarOf } from './meta.ts';
import { FileUpload } from './upload.ts';

/** Uploads last seconds; what lies in `tmp/` for so long was left there by a crash. */
const leftoverMs = 60 * 60 * 1000;
const markName = 'mark.json';

/**
 * Artifacts as plain files: the body at `<root>/<object>`, byte for byte as received, its metadata
 * in `<root>/<object>.json`, uploads under `<root>/tmp/`, the mark in `<root>/mark.json`. A segment
 * is one file without a second. Several processes may share the root, which lies on one file
 * system.
 */
export class FileStore implements ArtifactStore {
  readonly kind = 'files';
  readonly #root: string;
  readonly #tmp: string;
  readonly #directories: Directories;

  constructor(root: string) {
    this.#root = root;
    this.#tmp = join(root, 'tmp');
    this.#directories = new Directories(root);
  }

  async prepare(): Promise<void> {
    try {
      // One after the other: a crash may have come between the first one's making and its fsync.
      await makeDurable(this.#root);
      await makeDurable(this.#tmp);
      await this.#removeLeftovers();
    } catch (error) {
      throw storeError(error, 'preparing');
    }
  }

  begin(object: string, length: number, meta: ArtifactMeta | null): Upload {
    assertBegin(object, length, meta);
    const place = { root: this.#root, object, temp: join(this.#tmp, randomUUID()) };
    return new FileUpload(place, length, meta, this.#directories);
  }

  async read({ object, offset, length }: ArtifactPlace): Promise<Readable> {
    assertObjectName(object);
    try {
      const handle = await open(join(this.#root, object), 'r');
      const { size } = await handle.stat();
      if (offset + length > size || length === 0) {
        await handle.close();
        if (offset + length <= size) return Readable.from([]);
        throw new ArtifactMissing(`${object} ends before ${offset} + ${length} bytes`);
      }
      const source = handle.createReadStream({ start: offset, end: offset + length - 1 });
      return exactLength(source, length, (error) => storeError(error, `reading ${object}`));
    } catch (error) {
      throw readError(error, object);
    }
  }

  async contents(object: string): Promise<readonly StoredBody[]> {
    assertObjectName(object);
    const path = join(this.#root, object);
    try {
      if (isSegmentName(object)) return await readContents(object, (bytes) => tailOf(path, bytes));
      // A sidecar without its body is a commit that a crash cut short.
      const { size } = await stat(path);
      const sidecar = decodeSidecar(object, await readFile(sidecarOf(path), 'utf8'));
      return [{ place: { object, offset: 0, length: size }, ...sidecar }];
    } catch (error) {
      throw readError(error, object);
    }
  }

  async remove(object: string): Promise<void> {
    assertObjectName(object);
    const path = join(this.#root, object);
    try {
      // The body first: a visible body always has its metadata. Not fsynced: an object that comes
      // back after a loss of power is one that nobody refers to.
      await unlessAbsent(unlink(path));
      await unlessAbsent(unlink(sidecarOf(path)));
    } catch (error) {
      throw storeError(error, `removing ${object}`);
    }
  }

  async *list(): AsyncIterable<ListedObject> {
    try {
      for await (const object of this.#names('', 0)) {
        const found = await unlessAbsent(stat(join(this.#root, object)));
        if (!found) continue;
        const isSegment = isSegmentName(object);
        yield { object, bytes: found.size, storedAt: found.mtimeMs, isSegment };
      }
    } catch (error) {
      throw storeError(error, 'listing');
    }
  }

  async readMark(): Promise<string | null> {
    try {
      return await unlessAbsent(readFile(join(this.#root, markName), 'utf8'));
    } catch (error) {
      throw storeError(error, 'reading the mark');
    }
  }

  async writeMark(text: string): Promise<number> {
    const temp = join(this.#tmp, `mark-${randomUUID()}`);
    try {
      const handle = await open(temp, 'wx');
      try {
        await handle.writeFile(text);
        await handle.sync();
        const { mtimeMs } = await handle.stat();
        await rename(temp, join(this.#root, markName));
        await this.#directories.sync('.');
        return mtimeMs;
      } finally {
        await handle.close();
      }
    } catch (error) {
      // It is tried again every second: on a full disk each would leave a file. Gone already: the
      // directory's fsync failed.
      await unlink(temp).catch(() => {});
      throw storeError(error, 'writing the mark');
    }
  }

  async ping(): Promise<void> {
    try {
      await access(this.#tmp, constants.W_OK);
    } catch (error) {
      throw storeError(error, 'looking');
    }
  }

  async close(): Promise<void> {}

  /** Bodies lie three directories deep: year, month, day. */
  async *#names(below: string, depth: number): AsyncIterable<string> {
    const entries = await unlessAbsent(opendir(join(this.#root, below)));
    if (!entries) return;
    for await (const entry of entries) {
      const name = below ? `${below}/${entry.name}` : entry.name;
      if (depth === 3 && entry.isFile() && isObjectName(name)) yield name;
      if (depth < 3 && entry.isDirectory() && /^\d+$/.test(entry.name)) {
        yield* this.#names(name, depth + 1);
      }
    }
  }

  async #removeLeftovers(): Promise<void> {
    const before = Date.now() - leftoverMs;
    for await (const entry of await opendir(this.#tmp)) {
      const path = join(this.#tmp, entry.name);
      const found = await unlessAbsent(stat(path));
      if (found?.isFile() && found.mtimeMs < before) await unlessAbsent(unlink(path));
    }
  }
}

async function tailOf(path: string, bytes: number): Promise<Tail> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(Math.min(bytes, size));
    const { bytesRead } = await handle.read(tail, 0, tail.length, size - tail.length);
    return { bytes: tail.subarray(0, bytesRead), size };
  } finally {
    await handle.close();
  }
}
