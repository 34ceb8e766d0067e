import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { limits } from '../../src/domain/limits.ts';
import { type LocatePool, startLocatePool } from '../../src/parse/locate-pool.ts';
import type { ParseInput } from '../../src/parse/messages.ts';
import { someInput } from '../workers/some-delivery.ts';

const body = Buffer.from('day,shop,revenue\n2024-05-01,s1,1\n2024-05-02,s2,2\n');
let directory: string;
let pool: LocatePool;
let input: ParseInput;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-locate-'));
  const artifactsUrl = pathToFileURL(directory).href;
  const artifacts = openArtifacts(artifactsUrl);
  await artifacts.prepare();
  const object = `2024/05/01/${randomUUID()}`;
  const { artifactId, sourceId } = someInput();
  const upload = artifacts.begin(object, body.length, {
    ...{ artifactId, sourceId, sandbox: false, idempotencyKey: object, shapeVersion: 1 },
    ...{ delivery: 'document', mediaType: 'text/csv', encoding: 'identity', receivedAt: 0 },
  });
  await upload.write(body);
  const sha256 = createHash('sha256').update(body).digest();
  await upload.commit(sha256);
  await artifacts.close();
  const place = { object, offset: 0, length: body.length };
  input = someInput({ place, sha256: sha256.toString('hex') });
  pool = startLocatePool({ artifactsUrl });
});
afterAll(async () => {
  await pool.close();
  await rm(directory, { recursive: true });
});

test('records of a stored body are read again, in the order they are asked for', async () => {
  const answer = await pool.locate({ input, records: [2, 3, 1] });
  if (answer.kind !== 'read') expect.fail(answer.kind);
  expect(answer.records.map((record) => record?.fields.shop ?? null)).toEqual(['s2', null, 's1']);
});

test('bytes that are not those of the receipt, or are gone, are told and not read', async () => {
  const changed = { ...input, sha256: '0'.repeat(64) };
  expect(await pool.locate({ input: changed, records: [1] })).toEqual({ kind: 'changed' });
  const gone = { ...input, place: { ...input.place, object: `2024/05/01/${randomUUID()}` } };
  expect(await pool.locate({ input: gone, records: [1] })).toEqual({ kind: 'missing' });
});

test('who comes while very many wait is sent away, and the others are answered', async () => {
  const asked = Array.from({ length: limits.locateWaitingMax + 5 }, () =>
    pool.locate({ input, records: [1] }),
  );
  const settled = await Promise.allSettled(asked);
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(
    limits.locateWaitingMax,
  );
  const refused = settled.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(5);
  expect(refused[0]).toMatchObject({ reason: { code: 'threads_busy' } });
});
