import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArtifactMissing, type ArtifactStore, StoreAway } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import {
  bodyOf,
  failure,
  metaOf,
  namesIn,
  newObject,
  put,
  readAll,
  sha256,
  writeAll,
} from '../artifacts/bodies.ts';
import { oddMeta } from '../artifacts/odd-meta.ts';
import { someMeta } from '../artifacts/some-meta.ts';
import { childBodyBytes } from '../artifacts/upload-child.ts';
import { segmentContract } from './artifact-segments.ts';

const child = fileURLToPath(new URL('../artifacts/upload-child.ts', import.meta.url));

/**
 * What every artifact store promises (src/artifacts/artifacts.ts). `freshUrl` names a store that
 * is empty and nobody else uses; it is called in a `beforeAll`.
 */
export function artifactContract(freshUrl: () => Promise<string>): void {
  let url: string;
  let store: ArtifactStore;
  beforeAll(async () => {
    url = await freshUrl();
    store = openArtifacts(url);
    await store.prepare();
  });
  afterAll(() => store.close());

  async function expectNothing(object: string): Promise<void> {
    const place = { object, offset: 0, length: 1 };
    expect(await failure(readAll(store, place))).toBeInstanceOf(ArtifactMissing);
    expect(await metaOf(store, object)).toBeNull();
    expect(await namesIn(store)).not.toContain(object);
  }

  describe('what a commit gives', () => committed(() => store));
  describe('what is not committed', () => uncommitted(() => store, expectNothing));
  describe('a killed process', () => killed(() => ({ store, url }), expectNothing));
  describe('names and lengths', () => refusals(() => store));
  describe('segments', () => segmentContract(() => store));
  describe('the mark', () => marks(() => ({ store, url }), freshUrl));
}

function committed(store: () => ArtifactStore): void {
  test.each([0, 1, 65_536, 1_000_003, 8_388_608])('is the body of %i bytes', async (length) => {
    const body = bodyOf(newObject(), length);
    const { object } = await put(store(), body);
    const read = await readAll(store(), { object, offset: 0, length });
    expect(read.equals(body)).toBe(true);
  });

  test('is any range of it, and no range beyond it', async () => {
    const body = Buffer.from(Array.from({ length: 10_000 }, (_, at) => at % 251));
    const { object } = await put(store(), body);
    for (const [offset, length] of [
      ...[
        [0, 1],
        [0, 10_000],
        [1, 9_999],
        [4_000, 77],
      ],
      ...[
        [9_999, 1],
        [500, 0],
        [10_000, 0],
      ],
    ] as const) {
      const read = await readAll(store(), { object, offset, length });
      expect(read.equals(body.subarray(offset, offset + length))).toBe(true);
    }
    for (const [offset, length] of [
      [0, 10_001],
      [9_999, 2],
      [10_000, 1],
      [20_000, 1],
    ] as const) {
      const error = await failure(readAll(store(), { object, offset, length }));
      expect(error).toBeInstanceOf(ArtifactMissing);
    }
    const beyond = { object, offset: 10_001, length: 0 };
    expect(await failure(readAll(store(), beyond))).toBeInstanceOf(ArtifactMissing);
  });

  test('is the metadata as given, whatever characters the key holds', async () => {
    await fc.assert(
      fc.asyncProperty(oddMeta, async (meta) => {
        const object = newObject();
        const upload = store().begin(object, 3, meta);
        await upload.write(Buffer.from('abc'));
        await upload.commit(sha256(Buffer.from('abc')));
        expect(await metaOf(store(), object)).toEqual(meta);
      }),
      { numRuns: 25 },
    );
  });

  test('is told with the hash that was verified', async () => {
    const body = bodyOf(newObject(), 70_000);
    const { object, meta } = await put(store(), body);
    const place = { object, offset: 0, length: body.length };
    expect(await store().contents(object)).toEqual([{ place, meta, sha256: sha256(body) }]);
    const absent = store().contents(newObject());
    expect(await failure(absent)).toBeInstanceOf(ArtifactMissing);
  });

  test('is right when memory is used again as soon as a write has resolved', async () => {
    const piece = Buffer.alloc(256 * 1024);
    const whole = Buffer.concat(
      Array.from({ length: 16 }, (_, i) => Buffer.alloc(piece.length, i)),
    );
    const object = newObject();
    const upload = store().begin(object, whole.length, someMeta());
    for (let i = 0; i < 16; i++) {
      await upload.write(piece.fill(i));
      piece.fill(0xff);
    }
    await upload.commit(sha256(whole));
    const read = await readAll(store(), { object, offset: 0, length: whole.length });
    expect(read.equals(whole)).toBe(true);
  });

  test('is in order when several writes are under way', async () => {
    const pieces = Array.from({ length: 64 }, (_, i) => Buffer.alloc(i * 1_000 + 1, i));
    const whole = Buffer.concat(pieces);
    const object = newObject();
    const upload = store().begin(object, whole.length, someMeta());
    await Promise.all(pieces.map((piece) => upload.write(piece)));
    await upload.commit(sha256(whole));
    const read = await readAll(store(), { object, offset: 0, length: whole.length });
    expect(read.equals(whole)).toBe(true);
  });

  test('is right for 64 uploads of 1 MiB and 16 more at once', async () => {
    const objects = Array.from({ length: 80 }, newObject);
    await Promise.all(objects.map((object) => put(store(), bodyOf(object, 1 << 20), object)));
    for (const object of objects) {
      const read = await readAll(store(), { object, offset: 0, length: 1 << 20 });
      expect(read.equals(bodyOf(object, 1 << 20))).toBe(true);
    }
  });

  test('is listed with its length and time, until it is removed', async () => {
    const before = Date.now();
    const { object } = await put(store(), Buffer.alloc(1_234));
    const found = [];
    for await (const item of store().list()) if (item.object === object) found.push(item);
    const storedAt = expect.any(Number);
    expect(found).toEqual([{ object, bytes: 1_234, storedAt, isSegment: false }]);
    // S3 gives whole seconds.
    expect(Math.abs(found[0]!.storedAt - before)).toBeLessThan(5_000);
    await store().remove(object);
    expect(await namesIn(store())).not.toContain(object);
    expect(await metaOf(store(), object)).toBeNull();
    await store().remove(object);
  });

  test('stays when the upload is aborted afterwards', async () => {
    const object = newObject();
    const upload = store().begin(object, 1, someMeta());
    await upload.write(Buffer.from('a'));
    await upload.commit(sha256(Buffer.from('a')));
    await upload.abort();
    expect((await readAll(store(), { object, offset: 0, length: 1 })).toString()).toBe('a');
  });

  test('may be left unread by its readers, who then hold nothing open', async () => {
    const { object } = await put(store(), Buffer.alloc(4 << 20));
    const open = async () => (await readdir('/proc/self/fd')).length;
    const before = await open();
    for (let i = 0; i < 50; i++) {
      const stream = await store().read({ object, offset: 0, length: 4 << 20 });
      if (i % 2 === 0) await once(stream, 'readable');
      stream.destroy();
      await once(stream, 'close');
    }
    await expect.poll(open).toBeLessThan(before + 10);
  });

  test('outlives a second prepare, also by several at once', async () => {
    const { object } = await put(store(), Buffer.from('abc'));
    await Promise.all([store().prepare(), store().prepare(), store().ping()]);
    expect((await readAll(store(), { object, offset: 1, length: 2 })).toString()).toBe('bc');
  });
}

function uncommitted(
  store: () => ArtifactStore,
  expectNothing: (object: string) => Promise<void>,
): void {
  const body = bodyOf('any', 1 << 20);

  test('cannot be seen, though every byte is written, until the commit', async () => {
    const object = newObject();
    const upload = store().begin(object, body.length, someMeta());
    await writeAll(upload, body);
    await expectNothing(object);
    await upload.commit(sha256(body));
    expect(await namesIn(store())).toContain(object);
  });

  test.each([0, 1, 500_000, body.length])('is gone when aborted after %i bytes', async (bytes) => {
    const object = newObject();
    const upload = store().begin(object, body.length, someMeta());
    await writeAll(upload, body.subarray(0, bytes));
    await upload.abort();
    await upload.abort();
    await expectNothing(object);
    expect(await failure(upload.commit(sha256(body)))).toBeInstanceOf(StoreAway);
    await expectNothing(object);
  });

  test('is gone when aborted while writes are under way', async () => {
    const object = newObject();
    const upload = store().begin(object, body.length, someMeta());
    const writes = [0, 1, 2, 3].map((i) =>
      upload.write(body.subarray(i * 1_000, i * 1_000 + 1_000)),
    );
    const settled = Promise.allSettled(writes);
    await upload.abort();
    await settled;
    expect(await failure(upload.write(body.subarray(4_000)))).toBeInstanceOf(StoreAway);
    await expectNothing(object);
  });
}

function killed(
  given: () => { store: ArtifactStore; url: string },
  expectNothing: (object: string) => Promise<void>,
): void {
  test.each(['begun', 'half', 'sent'])('leaves nothing of an upload that was %s', async (stage) => {
    const uploader = spawn(process.execPath, [child, given().url, stage], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(uploader.stdout, 'data')) as [Buffer];
    uploader.kill('SIGKILL');
    await once(uploader, 'exit');
    await given().store.prepare();
    await expectNothing(said.toString().trim());
  });

  test('leaves only whole objects, and all whose commit had returned', async () => {
    const { store, url } = given();
    for (const round of [1, 2, 3]) {
      const uploader = spawn(process.execPath, [child, url, 'commits'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      uploader.stdout.on('data', (bytes) => {
        said += bytes;
      });
      await once(uploader.stdout, 'data');
      await sleep(100 + 37 * round);
      uploader.kill('SIGKILL');
      await once(uploader, 'close');
      const returned = said.split('\n').slice(0, -1);
      expect(returned.length).toBeGreaterThan(0);
      const there = new Set(await namesIn(store));
      expect(returned.filter((object) => !there.has(object))).toEqual([]);
    }
    for await (const { object, bytes } of store.list()) {
      expect(await metaOf(store, object)).not.toBeNull();
      if (bytes !== childBodyBytes) continue;
      const read = await readAll(store, { object, offset: 0, length: bytes });
      expect(read.equals(bodyOf(object, bytes))).toBe(true);
    }
  });
}

function refusals(store: () => ArtifactStore): void {
  const uuid = '00000000-0000-7000-8000-000000000000';
  test.each([
    ...['', '.', '..', '/etc/passwd', `../2026/11/20/${uuid}`, `2026/11/../../${uuid}`],
    ...[`2026/11/20/${uuid}.json`, `/2026/11/20/${uuid}`, `2026/11/20/${uuid}/`, `tmp/${uuid}`],
    ...[`2026/11/20/${uuid}\0`, `2026/11/20/${uuid}\n`, `2026\\11\\20\\${uuid}`],
    ...[`2026/11/20/${uuid.replaceAll('0', 'A')}`, `2026/11/20/%2e%2e`],
  ])('refuse the name %j', async (object) => {
    const refused = /assertion failed: an object's name/;
    expect(() => store().begin(object, 1, someMeta())).toThrow(refused);
    await expect(store().read({ object, offset: 0, length: 1 })).rejects.toThrow(refused);
    await expect(store().contents(object)).rejects.toThrow(refused);
    await expect(store().remove(object)).rejects.toThrow(refused);
  });

  test('refuse more bytes than announced, and a commit of fewer', async () => {
    const upload = store().begin(newObject(), 10, someMeta());
    await upload.write(Buffer.alloc(9));
    await expect(upload.commit(Buffer.alloc(32))).rejects.toThrow('all announced bytes');
    await expect(upload.write(Buffer.alloc(2))).rejects.toThrow('no more bytes than announced');
    await upload.abort();
  });

  test.each([
    { idempotencyKey: '\ud800' },
    { idempotencyKey: 'k'.repeat(201) },
    { mediaType: 'x'.repeat(201) },
    { mediaType: 'text/plain\r\nx-evil: 1' },
  ])('refuse metadata that a store could not keep: %j', (fields) => {
    const begin = () => store().begin(newObject(), 1, someMeta(fields));
    expect(begin).toThrow('assertion failed');
  });
}

function marks(
  given: () => { store: ArtifactStore; url: string },
  freshUrl: () => Promise<string>,
): void {
  test('is absent at first, then what was written last, for every reader', async () => {
    const store = openArtifacts(await freshUrl());
    await store.prepare();
    expect(await store.readMark()).toBeNull();
    await store.writeMark('one');
    const long = JSON.stringify({ text: 'ü'.repeat(5_000) });
    await store.writeMark(long);
    expect(await store.readMark()).toBe(long);
    await store.close();
    await given().store.writeMark('two');
    const another = openArtifacts(given().url);
    expect(await another.readMark()).toBe('two');
    await another.close();
  });

  test('is no artifact: it is not listed', async () => {
    const { store } = given();
    const before = await namesIn(store);
    await store.writeMark('a mark');
    expect(await namesIn(store)).toEqual(before);
  });

  test("tells the store's time, which no artifact stored later precedes", async () => {
    const { store } = given();
    const time = await store.writeMark('a mark');
    const { object } = await put(store, Buffer.alloc(1));
    for await (const found of store.list()) {
      if (found.object === object) expect(found.storedAt).toBeGreaterThanOrEqual(time);
    }
    expect(Math.abs(time - Date.now())).toBeLessThan(5_000);
  });

  test('is always whole, while it is replaced again and again', async () => {
    const { store } = given();
    const texts = ['a', 'b'].map((letter) => letter.repeat(10_000));
    let writing = true;
    const writer = (async () => {
      for (let i = 0; i < 40; i++) await store.writeMark(texts[i % 2]!);
      writing = false;
    })();
    await store.writeMark(texts[0]!);
    while (writing) expect(texts).toContain(await store.readMark());
    await writer;
  });
}
