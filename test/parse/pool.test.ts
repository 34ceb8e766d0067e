import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { HandedRows, ParseInput } from '../../src/parse/messages.ts';
import { startParsePool } from '../../src/parse/pool.ts';
import { someInput } from '../workers/some-delivery.ts';

let directory: string;
let artifactsUrl: string;
let input: ParseInput;
const records = 160_000;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-pool-'));
  artifactsUrl = pathToFileURL(directory).href;
  const rows = Array.from({ length: records }, (_, i) => `2024-05-01,s${i % 40},${i},${i}\n`);
  const body = gzipSync(`day,shop,revenue,orders\n${rows.join('')}`);
  const object = `2024/05/01/${randomUUID()}`;
  const sha256 = createHash('sha256').update(body).digest();
  const artifacts = openArtifacts(artifactsUrl);
  await artifacts.prepare();
  const { artifactId, sourceId } = someInput();
  const upload = artifacts.begin(object, body.length, {
    ...{ artifactId, sourceId, sandbox: false, idempotencyKey: object, shapeVersion: 1 },
    ...{ delivery: 'document', mediaType: 'application/octet-stream', encoding: 'gzip' },
    receivedAt: 1_714_560_000_000,
  });
  await upload.write(body);
  await upload.commit(sha256);
  await artifacts.close();
  const place = { object, offset: 0, length: body.length };
  input = someInput({ place, sha256: sha256.toString('hex'), encoding: 'gzip' });
});

afterAll(() => rm(directory, { recursive: true }));

test('its threads give way to all others of the process', async () => {
  const before = threadsOfPriority(5);
  const pool = startParsePool({ artifactsUrl });
  await pool.run({ deliveries: [someInput()] });
  expect(threadsOfPriority(5) - before).toBe(pool.threads);
  await pool.close();
});

/** How many threads of this process have that nice value (proc(5), /proc/pid/stat). */
function threadsOfPriority(nice: number): number {
  const stats = readdirSync('/proc/self/task').map((id) =>
    readFileSync(`/proc/self/task/${id}/stat`, 'utf8'),
  );
  const after = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' '));
  return after.filter((fields) => Number(fields[16]) === nice).length;
}

test('rows of a large delivery come while it is parsed, one lot after another', async () => {
  const pool = startParsePool({ artifactsUrl });
  const lots: HandedRows[] = [];
  const { outcomes } = await pool.run({ deliveries: [someInput(), input] }, async (rows) => {
    lots.push(rows);
    await sleep(1);
    return true;
  });
  await pool.close();
  expect(outcomes.map(({ kind }) => kind)).toEqual(['unreadable', 'done']);
  if (outcomes[1]?.kind !== 'done') expect.fail('it was not parsed');
  expect(new Set(lots.map(({ delivery }) => delivery))).toEqual(new Set([1]));
  const count = lots.reduce((sum, lot) => sum + lot.sampleRowCount, outcomes[1].sampleRowCount);
  expect(count).toBe(2 * records);
  const sizes = lots.map((lot) => lot.sampleRows.reduce((sum, piece) => sum + piece.length, 0));
  expect(Math.max(...sizes)).toBeLessThan(16 * 1024 * 1024);
});

test('waiting until rows are taken does not count against the parser', async () => {
  const deadlineMs = 12_000;
  const pool = startParsePool({ artifactsUrl }, { deadlineMs });
  const begun = performance.now();
  let waitMs = deadlineMs + 500;
  const { outcomes } = await pool.run({ deliveries: [input] }, async () => {
    await sleep(waitMs);
    waitMs = 0;
    return true;
  });
  await pool.close();
  expect(outcomes[0]!.kind).toBe('done');
  expect(performance.now() - begun).toBeGreaterThan(deadlineMs);
}, 120_000);

test.each([
  ['are not wanted', async () => false],
  ['cannot be taken', () => Promise.reject(new Error('away'))],
])('rows that %s end the parse, and never as the delivery’s fault', async (_, takeRows) => {
  const pool = startParsePool({ artifactsUrl });
  const { outcomes } = await pool.run({ deliveries: [input] }, takeRows);
  expect(outcomes[0]).toMatchObject({ kind: 'unreadable' });
  const next = await pool.run({ deliveries: [input] }, async () => true);
  expect(next.outcomes[0]!.kind).toBe('done');
  await pool.close();
});
