import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArtifactMissing, type ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { segmentName } from '../../src/artifacts/object-name.ts';
import { encodeSegment } from '../../src/artifacts/segment.ts';
import { TogetherReads } from '../../src/artifacts/together.ts';
import { limits } from '../../src/domain/limits.ts';
import { failure, namesIn, newObject, readAll, sha256 } from '../artifacts/bodies.ts';
import { oddMeta } from '../artifacts/odd-meta.ts';
import { putSegment, wholeBodies } from '../artifacts/segments.ts';
import { someMeta } from '../artifacts/some-meta.ts';

/** Several small bodies in one object (src/artifacts/segment.ts). */
export function segmentContract(store: () => ArtifactStore): void {
  test('give each body back with its metadata and hash, whatever the metadata are', async () => {
    const body = fc.record({ meta: oddMeta, bytes: fc.uint8Array({ maxLength: 300 }) });
    const bodies = fc.uniqueArray(body, {
      ...{ minLength: 1, maxLength: 12, selector: ({ meta }) => meta.artifactId },
    });
    await fc.assert(
      fc.asyncProperty(bodies, async (given) => {
        const whole = given.map(({ meta, bytes }) => {
          const buffer = Buffer.from(bytes);
          return { meta, body: buffer, sha256: sha256(buffer) };
        });
        const { object, places } = await putSegment(store(), whole);
        const expected = whole.map(({ meta, sha256: hash }, i) => ({
          ...{ place: places[i], meta, sha256: hash },
        }));
        expect(await store().contents(object)).toEqual(expected);
        const reads = new TogetherReads(store(), places);
        for (const [i, { body: bytes }] of whole.entries()) {
          expect((await readAll(store(), places[i]!)).equals(bytes)).toBe(true);
          expect((await reads.body(i)).equals(bytes)).toBe(true);
        }
      }),
      { numRuns: 15 },
    );
  });

  test('may hold so many bodies that their index is read twice', async () => {
    const whole = wholeBodies(limits.segmentBodiesMax, 50);
    const { object } = await putSegment(store(), whole);
    const found = await store().contents(object);
    expect(found.map(({ meta }) => meta)).toEqual(whole.map(({ meta }) => meta));
  });

  test('are listed as one object that says what it is, until they are removed', async () => {
    const { object, bytes } = await putSegment(store(), wholeBodies(3));
    const found = [];
    for await (const item of store().list()) if (item.object === object) found.push(item);
    const storedAt = expect.any(Number);
    expect(found).toEqual([{ object, bytes: bytes.length, storedAt, isSegment: true }]);
    await store().remove(object);
    expect(await namesIn(store())).not.toContain(object);
    expect(await failure(store().contents(object))).toBeInstanceOf(ArtifactMissing);
  });

  test('cannot be seen before the commit, and leave nothing when they are aborted', async () => {
    const object = segmentName(newObject());
    const { bytes } = encodeSegment(object, wholeBodies(3));
    const upload = store().begin(object, bytes.length, null);
    await upload.write(bytes);
    expect(await namesIn(store())).not.toContain(object);
    await upload.abort();
    expect(await failure(store().contents(object))).toBeInstanceOf(ArtifactMissing);
    expect(await namesIn(store())).not.toContain(object);
  });

  test('are named as such, and nothing else is', () => {
    const plain = newObject();
    const refused = /assertion failed: a segment/;
    expect(() => store().begin(plain, 1, null)).toThrow(refused);
    expect(() => store().begin(segmentName(plain), 1, someMeta())).toThrow(refused);
  });

  test.each([
    ['cut off before its end', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['cut off before its index', (bytes: Buffer) => bytes.subarray(0, 3_000)],
    ['empty', () => Buffer.alloc(0)],
    ['followed by a byte', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1)])],
    ['preceded by a byte', (bytes: Buffer) => Buffer.concat([Buffer.alloc(1), bytes])],
    ['no segment', () => Buffer.alloc(5_000)],
  ])('that are %s are damaged', async (_, damage) => {
    const object = segmentName(newObject());
    const bytes = damage(encodeSegment(object, wholeBodies(3)).bytes);
    const upload = store().begin(object, bytes.length, null);
    if (bytes.length > 0) await upload.write(bytes);
    await upload.commit(sha256(bytes));
    const error = await failure(store().contents(object));
    expect(error).toBeInstanceOf(ArtifactMissing);
    expect(error.message).toContain(object);
  });
}
