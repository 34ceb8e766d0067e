import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ArtifactMissing, StoreAway } from '../../src/artifacts/artifacts.ts';
import { Directories } from '../../src/artifacts/files/directories.ts';
import { FileStore } from '../../src/artifacts/files/store.ts';
import { artifactContract } from '../contract/artifacts.ts';
import { describeWith } from '../support/need.ts';
import { type SmallDisk, smallDiskOrSkip } from '../support/small-disk.ts';
import { bodyOf, failure, namesIn, newObject, put, readAll, sha256 } from './bodies.ts';
import { someMeta } from './some-meta.ts';

const made: string[] = [];

async function newRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'weir-files-'));
  made.push(root);
  return root;
}

async function newStore(): Promise<{ root: string; store: FileStore }> {
  const root = join(await newRoot(), 'new', 'artifacts');
  const store = new FileStore(root);
  await store.prepare();
  return { root, store };
}

afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  for (const root of made) await rm(root, { recursive: true, force: true });
});

describe('the file store', () => {
  artifactContract(async () => pathToFileURL(join(await newRoot(), 'artifacts')).href);
});

describe('the files of the file store', () => {
  test('are the body as received and its metadata beside it, and nothing else', async () => {
    const { root, store } = await newStore();
    const body = bodyOf('any', 70_000);
    const { object, meta } = await put(store, body);
    expect((await readFile(join(root, object))).equals(body)).toBe(true);
    const sidecar = JSON.parse(await readFile(join(root, `${object}.json`), 'utf8'));
    expect(sidecar).toEqual({ ...meta, sha256: sha256(body).toString('hex') });
    expect(await filesIn(root)).toEqual([object, `${object}.json`].sort());
  });

  test('are gone after an abort at any stage, temporary ones too', async () => {
    const { root, store } = await newStore();
    for (const bytes of [0, 1, 10]) {
      const upload = store.begin(newObject(), 10, someMeta());
      if (bytes > 0) await upload.write(Buffer.alloc(bytes));
      await upload.abort();
      expect(await filesIn(root)).toEqual([]);
    }
  });

  test('left in tmp by a crash are removed when older than an hour, younger ones not', async () => {
    const { root, store } = await newStore();
    const hourAgo = new Date(Date.now() - 61 * 60 * 1000);
    for (const name of ['old', 'old.json', 'young']) {
      await writeFile(join(root, 'tmp', name), 'x');
      if (name !== 'young') await utimes(join(root, 'tmp', name), hourAgo, hourAgo);
    }
    await store.prepare();
    expect(await filesIn(root)).toEqual(['tmp/young']);
  });

  test('that are not ours are not listed', async () => {
    const { root, store } = await newStore();
    const { object } = await put(store, Buffer.alloc(1));
    await mkdir(join(root, 'lost+found'));
    await writeFile(join(root, '2026', 'notes'), 'x');
    await writeFile(join(root, '2026/11/20', 'README'), 'x');
    await writeFile(join(root, newObject().replaceAll('/', '-')), 'x');
    expect(await namesIn(store)).toEqual([object]);
  });

  test('a sidecar without its body is an object that was never committed', async () => {
    const { root, store } = await newStore();
    const { object } = await put(store, Buffer.alloc(1));
    await unlink(join(root, object));
    expect(await failure(store.contents(object))).toBeInstanceOf(ArtifactMissing);
    expect(await namesIn(store)).toEqual([]);
  });

  test.each(['', '{', '{"artifactId":"a"}'])('the sidecar %j is a broken promise', async (text) => {
    const { root, store } = await newStore();
    const { object } = await put(store, Buffer.alloc(1));
    await writeFile(join(root, `${object}.json`), text);
    expect(await failure(store.contents(object))).toBeInstanceOf(ArtifactMissing);
  });

  test('a sidecar without a hash tells none, one with half a hash is damaged', async () => {
    const { root, store } = await newStore();
    const { object, meta } = await put(store, Buffer.alloc(1));
    await writeFile(join(root, `${object}.json`), JSON.stringify(meta));
    const place = { object, offset: 0, length: 1 };
    expect(await store.contents(object)).toEqual([{ place, meta, sha256: null }]);
    await writeFile(join(root, `${object}.json`), JSON.stringify({ ...meta, sha256: 'ab' }));
    expect(await failure(store.contents(object))).toBeInstanceOf(ArtifactMissing);
  });

  test('the mark is replaced as a whole, by nothing that a power cut tears', async () => {
    const { root, store } = await newStore();
    const handle = await open('/dev/null');
    await handle.close();
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
    await store.writeMark('one');
    // The text, then its name.
    expect(sync).toHaveBeenCalledTimes(2);
    expect(await filesIn(root)).toEqual(['mark.json']);
    await writeFile(join(root, 'tmp', 'other'), 'a half-written one is never seen');
    expect(await store.readMark()).toBe('one');
  });

  test('have directories that a start makes durable once more, after a crash', async () => {
    const root = join(await newRoot(), 'artifacts');
    await mkdir(join(root, 'tmp'), { recursive: true });
    const handle = await open('/dev/null');
    await handle.close();
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
    await new FileStore(root).prepare();
    // The names of the root and of `tmp`.
    expect(sync).toHaveBeenCalledTimes(2);
  });

  test('a day directory that was removed is made again', async () => {
    const { root, store } = await newStore();
    await put(store, Buffer.alloc(1));
    await rm(join(root, '2026'), { recursive: true });
    // The store had counted on it: this upload is lost, the next is not.
    expect(await failure(put(store, Buffer.alloc(1)))).toBeInstanceOf(StoreAway);
    const { object } = await put(store, Buffer.alloc(1));
    expect(await namesIn(store)).toEqual([object]);
  });
});

describe('a failing disk', () => {
  const eio = () =>
    Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' });

  /** What all file handles inherit from. */
  async function handles(): Promise<{ sync(): Promise<void> }> {
    const handle = await open('/dev/null');
    await handle.close();
    return Object.getPrototypeOf(handle);
  }

  test.each([1, 2])('loses the upload whose fsync %i failed, and never asks again', async (nth) => {
    const { root, store } = await newStore();
    await put(store, Buffer.alloc(1));
    const object = newObject();
    const upload = store.begin(object, 1, someMeta());
    await upload.write(Buffer.alloc(1));
    const sync = vi.spyOn(await handles(), 'sync');
    for (let i = 1; i < nth; i++) sync.mockResolvedValueOnce();
    sync.mockRejectedValueOnce(eio());
    const error = await failure(upload.commit(sha256(Buffer.alloc(1))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.cause).toMatchObject({ code: 'EIO' });
    // Body and sidecar; the directory is not reached.
    expect(sync).toHaveBeenCalledTimes(2);
    expect(await failure(upload.write(Buffer.alloc(0)))).toBe(error);
    await upload.abort();
    expect(await failure(store.contents(object))).toBeInstanceOf(ArtifactMissing);
    expect((await filesIn(root)).filter((name) => name.startsWith('tmp/'))).toEqual([]);
  });

  test('fails the commit whose names could not be made durable', async () => {
    const { store } = await newStore();
    await put(store, Buffer.alloc(1));
    const upload = store.begin(newObject(), 1, someMeta());
    await upload.write(Buffer.alloc(1));
    const sync = vi.spyOn(await handles(), 'sync');
    sync.mockResolvedValueOnce().mockResolvedValueOnce().mockRejectedValueOnce(eio());
    expect(await failure(upload.commit(sha256(Buffer.alloc(1))))).toBeInstanceOf(StoreAway);
    expect(sync).toHaveBeenCalledTimes(3);
  });

  test('leaves nothing of a body that did not get its name, its sidecar neither', async () => {
    const { root, store } = await newStore();
    const object = newObject();
    await mkdir(join(root, object, 'in its place'), { recursive: true });
    expect(await failure(put(store, Buffer.alloc(1), object))).toBeInstanceOf(StoreAway);
    expect(await filesIn(root)).toEqual([]);
  });

  test('leaves nothing of a mark that could not be written, however often', async () => {
    const { root, store } = await newStore();
    await store.writeMark('one');
    const sync = vi.spyOn(await handles(), 'sync');
    for (let i = 0; i < 3; i++) {
      sync.mockRejectedValueOnce(eio());
      expect(await failure(store.writeMark('two'))).toBeInstanceOf(StoreAway);
    }
    expect(await filesIn(root)).toEqual(['mark.json']);
    expect(await store.readMark()).toBe('one');
  });

  test('makes a directory anew whose name could not be made durable', async () => {
    const root = await newRoot();
    const directories = new Directories(root);
    const sync = vi.spyOn(await handles(), 'sync');
    sync.mockRejectedValueOnce(eio());
    expect(await failure(directories.ensure('2026'))).toMatchObject({ code: 'EIO' });
    expect(await readdir(root)).toEqual([]);
    await directories.ensure('2026');
    expect(await readdir(root)).toEqual(['2026']);
  });

  test('that is not there is a store that is away', async () => {
    const root = await newRoot();
    const store = new FileStore(join(root, 'absent'));
    const upload = store.begin(newObject(), 1, someMeta());
    expect(await failure(upload.write(Buffer.alloc(1)))).toBeInstanceOf(StoreAway);
    expect(await failure(store.ping())).toBeInstanceOf(StoreAway);
    await writeFile(join(root, 'file'), '');
    expect(await failure(new FileStore(join(root, 'file')).prepare())).toBeInstanceOf(StoreAway);
  });
});

describe('the path to durability', () => {
  test('is three fsyncs for an upload, and one for the names of many at once', async () => {
    const { store } = await newStore();
    await put(store, Buffer.alloc(1));
    const handle = await open('/dev/null');
    await handle.close();
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
    await put(store, Buffer.alloc(1));
    expect(sync).toHaveBeenCalledTimes(3);
    sync.mockClear();
    await Promise.all(Array.from({ length: 50 }, () => put(store, Buffer.alloc(1))));
    expect(sync.mock.calls.length).toBeLessThan(150);
  });
});

describeWith('a full disk', await smallDiskOrSkip(), (mount) => {
  let root: string;
  let disk: SmallDisk;
  beforeAll(async () => {
    root = await newRoot();
    disk = await mount(root, 4 << 20);
  });
  afterAll(() => disk.unmount());

  test('loses the upload and leaves room for the next', async () => {
    const store = new FileStore(root);
    await store.prepare();
    const body = bodyOf('any', 3 << 20);
    for (let i = 0; i < 3; i++) {
      const upload = store.begin(newObject(), 8 << 20, someMeta());
      const error = await failure(Promise.all([upload.write(body), upload.write(body)]));
      expect(error).toBeInstanceOf(StoreAway);
      expect(error.cause).toMatchObject({ code: 'ENOSPC' });
      await upload.abort();
    }
    const { object } = await put(store, body);
    expect(await namesIn(store)).toEqual([object]);
    const read = await readAll(store, { object, offset: 0, length: body.length });
    expect(read.equals(body)).toBe(true);
  });
});

async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).sort();
}
