import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ArtifactMeta } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { limits } from '../../src/domain/limits.ts';
import { ParseLoop } from '../../src/parse/loop.ts';
import { type ParsePool, startParsePool } from '../../src/parse/pool.ts';
import { type FaultPlace, makePlace } from './place.ts';
import { dayText } from './sender.ts';

const file = fileURLToPath(new URL('./crashing-parse.ts', import.meta.url));
const timeout = 60_000;
const quiet = { warn: () => {}, error: () => {} };

let place: FaultPlace;
let pool: ParsePool;

beforeEach(async () => {
  place = await makePlace();
  // Long enough for a new thread to load the parser on a busy machine.
  pool = startParsePool({ artifactsUrl: artifactsUrl() }, { file, deadlineMs: 6_000 });
});

afterEach(async () => {
  await pool.close();
  await place.remove();
});

const artifactsUrl = () => pathToFileURL(join(place.dataDir, 'artifacts')).href;

/** Stores and records a document as the door does. @returns its artifact id */
async function accept(name: string, mediaType: string, bytesMin = 0): Promise<string> {
  const padding = 'x'.repeat(bytesMin);
  const body = Buffer.from(`day,page,visits,note\n${dayText(0)},/${name},1,${padding}\n`);
  const [artifactId, sha256] = [randomUUID(), createHash('sha256').update(body).digest()];
  const object = `2026/01/01/${artifactId}`;
  const about: ArtifactMeta & { secretId: null } = {
    ...{ artifactId, sourceId: place.document.sourceId, sandbox: false, idempotencyKey: name },
    ...{ shapeVersion: 1, delivery: 'document', mediaType, encoding: 'identity', receivedAt: 1 },
    secretId: null,
  };
  const artifacts = openArtifacts(artifactsUrl());
  await artifacts.prepare();
  const upload = artifacts.begin(object, body.length, about);
  await upload.write(body);
  await upload.commit(sha256);
  await artifacts.close();
  const stored = { bytes: body.length, place: { object, offset: 0, length: body.length } };
  await place.catalog.ledger.record({ ...about, ...stored, sha256 });
  return artifactId;
}

/** Parses until nothing waits. */
async function parseAll(): Promise<void> {
  const rows = { room: async () => {}, add: async () => {} };
  const { queue, reparses } = place.catalog;
  const samples = { settle: async () => {}, forget: async () => {} };
  const stores = { queue, reparses, samples };
  const loop = new ParseLoop({ ...stores, pool, rows, clock: Date.now, log: quiet });
  loop.start();
  try {
    await vi.waitFor(async () => expect((await queue.backlog()).deliveries).toBe(0), 50_000);
  } finally {
    await loop.stop();
  }
}

const defects = ['test/throws', 'test/exits'];

test.each(defects)(
  '%s: rejected the third time, its neighbours are parsed',
  { timeout },
  async (defect) => {
    const before = await accept('before', 'text/csv');
    const bad = await accept('bad', defect);
    const after = await accept('after', 'text/csv');
    await parseAll();
    const { deliveries } = place.catalog;
    expect(await deliveries.byArtifact(bad)).toMatchObject({
      status: 'rejected',
      refusal: { code: 'parser_crashed', record: null },
      counts: { records: 0, samples: 0 },
    });
    for (const good of [before, after]) {
      const delivery = await deliveries.byArtifact(good);
      expect(delivery).toMatchObject({ status: 'parsed', counts: { records: 1, samples: 1 } });
    }
  },
);

test('a parser that hangs is charged, those who wait behind it are not', { timeout }, async () => {
  const crashed = vi.spyOn(place.catalog.queue, 'crashed');
  // Each a task of its own, all of them waiting for one thread.
  const bad = await accept('bad', 'test/hangs', 70_000);
  const good: string[] = [];
  for (let n = 0; n < 3; n++) good.push(await accept(`good-${n}`, 'text/csv', 70_000));
  await parseAll();
  expect(crashed.mock.calls.map(([lease]) => lease.artifactId)).toEqual(
    Array.from({ length: limits.parserCrashesMax }, () => bad),
  );
  expect(await place.catalog.deliveries.byArtifact(bad)).toMatchObject({
    status: 'rejected',
    refusal: { code: 'parser_crashed' },
  });
  for (const one of good) {
    expect(await place.catalog.deliveries.byArtifact(one)).toMatchObject({ status: 'parsed' });
  }
});
