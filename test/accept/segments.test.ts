import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Segments } from '../../src/accept/segments.ts';
import { type ArtifactStore, StoreAway, type Upload } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { limits } from '../../src/domain/limits.ts';
import { namesIn, readAll } from '../artifacts/bodies.ts';
import { wholeBodies } from '../artifacts/segments.ts';

let dir: string;
let artifacts: ArtifactStore;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-segments-'));
  artifacts = openArtifacts(pathToFileURL(dir).href);
  await artifacts.prepare();
});
afterEach(async () => {
  await artifacts.close();
  await rm(dir, { recursive: true });
});

const segmentsOn = (store: Pick<ArtifactStore, 'begin' | 'remove'>) =>
  new Segments({ artifacts: store, newArtifactId: () => randomUUID() });

/** The store, whose uploads fail where `fails` says so. */
function failing(fails: (nth: number) => boolean): Pick<ArtifactStore, 'begin' | 'remove'> {
  let uploads = 0;
  return {
    remove: (object) => artifacts.remove(object),
    begin(...args): Upload {
      const upload = artifacts.begin(...args);
      uploads += 1;
      if (!fails(uploads)) return upload;
      return {
        write: (bytes) => upload.write(bytes),
        commit: () => Promise.reject(new StoreAway('full')),
        abort: () => upload.abort(),
      };
    },
  };
}

test('bodies that come together share an object, and each keeps its bytes', async () => {
  const segments = segmentsOn(artifacts);
  const bodies = wholeBodies(50, 700);
  const kept = await Promise.all(bodies.map((body) => segments.keep(body)));
  expect(new Set(kept.map(({ place }) => place.object)).size).toBe(1);
  for (const [i, { place }] of kept.entries()) {
    expect((await readAll(artifacts, place)).equals(bodies[i]!.body)).toBe(true);
  }
});

test('no segment has more bytes or bodies than it may', async () => {
  const segments = segmentsOn(artifacts);
  const large = wholeBodies(40, limits.segmentBodyBytesMax);
  const small = wholeBodies(limits.segmentBodiesMax + 10, 3);
  await Promise.all([...large, ...small].map((body) => segments.keep(body)));
  const counts: number[] = [];
  for (const object of await namesIn(artifacts)) {
    const bodies = await artifacts.contents(object);
    const bytes = bodies.reduce((sum, { place }) => sum + place.length, 0);
    expect(bytes).toBeLessThanOrEqual(limits.segmentBytesMax);
    expect(bodies.length).toBeLessThanOrEqual(limits.segmentBodiesMax);
    counts.push(bodies.length);
  }
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(large.length + small.length);
});

test('a segment that fails takes its own bodies along and leaves nothing else', async () => {
  const segments = segmentsOn(failing((nth) => nth === 1));
  const bodies = wholeBodies(6);
  const first = bodies.slice(0, 3).map((body) => segments.keep(body));
  const failed = Promise.all(first.map((one) => expect(one).rejects.toBeInstanceOf(StoreAway)));
  await new Promise(setImmediate); // They have left.
  const second = bodies.slice(3).map((body) => segments.keep(body));
  await failed;
  const objects = (await Promise.all(second)).map(({ place }) => place.object);
  expect(await namesIn(artifacts)).toEqual([...new Set(objects)]);
});

test('an object goes when all that share it have abandoned it, and not before', async () => {
  const segments = segmentsOn(artifacts);
  const kept = await Promise.all(wholeBodies(3).map((body) => segments.keep(body)));
  const object = kept[0]!.place.object;
  await kept[0]!.abandon();
  await kept[1]!.abandon();
  expect(await namesIn(artifacts)).toEqual([object]);
  await kept[2]!.abandon();
  expect(await namesIn(artifacts)).toEqual([]);
});
