import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Piscina } from 'piscina';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type {
  ParseAnswer,
  ParseInput,
  ParseTask,
  WorkerSettings,
} from '../../src/parse/messages.ts';
import { decoded, someInput } from './some-delivery.ts';

let directory: string;
let artifacts: ArtifactStore;
let pool: Piscina<ParseTask, ParseAnswer>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-parse-'));
  const settings: WorkerSettings = { artifactsUrl: pathToFileURL(directory).href };
  artifacts = openArtifacts(settings.artifactsUrl);
  await artifacts.prepare();
  pool = new Piscina({
    filename: new URL('../../workers/parse.ts', import.meta.url).href,
    workerData: settings,
    minThreads: 1,
    maxThreads: 1,
  });
});

afterAll(async () => {
  await pool.destroy();
  await artifacts.close();
  await rm(directory, { recursive: true });
});

type Stored = Pick<ParseInput, 'place' | 'sha256'>;

async function store(text: string): Promise<Stored> {
  const body = Buffer.from(text);
  const object = `2024/05/01/${randomUUID()}`;
  const upload = artifacts.begin(object, body.length, {
    artifactId: someInput().artifactId,
    sourceId: someInput().sourceId,
    sandbox: false,
    idempotencyKey: object,
    shapeVersion: 1,
    delivery: 'document',
    mediaType: 'application/octet-stream',
    encoding: 'identity',
    receivedAt: 1_714_560_000_000,
  });
  await upload.write(body);
  await upload.commit(sha256(body));
  const place = { object, offset: 0, length: body.length };
  return { place, sha256: sha256(body).toString('hex') };
}

function sha256(body: Buffer | string): Buffer {
  return createHash('sha256').update(body).digest();
}

const csvOf = (value: number) => `day,shop,revenue\n2024-05-01,s,${value}\n2024-05-02,s,x\n`;

test('a thread reads bodies from the store and answers for each delivery, in order', async () => {
  const missing = someInput({
    place: { object: `2024/05/01/${randomUUID()}`, offset: 0, length: 4 },
  });
  const bodies = Array.from({ length: 20 }, (_, value) => csvOf(value));
  const stored = await Promise.all(bodies.map(store));
  const inputs = stored.map((one, i) => someInput({ ...one, sequence: 100 + i }));
  const deliveries = inputs.toSpliced(3, 0, missing);

  const { outcomes } = await pool.run({ deliveries });

  expect(outcomes).toHaveLength(21);
  for (const [i, outcome] of outcomes.entries()) {
    if (i === 3) {
      const reason = `${missing.place.object} is not in the artifact directory`;
      expect(outcome).toEqual({ kind: 'damaged', reason });
      continue;
    }
    if (outcome.kind !== 'done') expect.fail(`delivery ${i} is ${outcome.kind}`);
    const { samples, rejections, counts } = decoded(deliveries[i]!, outcome);
    expect(samples.map(({ value }) => value)).toEqual([String(i < 3 ? i : i - 1)]);
    expect(rejections).toEqual(['2.0 line 3 revenue value_not_decimal']);
    expect(counts).toMatchObject({ records: 2, parsed: 1, rejected: 1, samples: 1 });
  }
});

test('a thread reads a byte range of an object', async () => {
  const one = csvOf(1);
  const two = csvOf(2);
  const { object } = (await store(one + two)).place;
  const place = { object, offset: one.length, length: two.length };
  const input = someInput({ place, sha256: sha256(two).toString('hex') });
  const { outcomes } = await pool.run({ deliveries: [input] });
  const [outcome] = outcomes;
  if (outcome?.kind !== 'done') expect.fail('the range was not read');
  expect(decoded(input, outcome).samples).toMatchObject([{ value: '2' }]);
});

test('bytes that are not those of the receipt are never parsed', async () => {
  const { place } = await store(csvOf(1));
  const input = someInput({ place, sha256: sha256(csvOf(2)).toString('hex') });
  expect((await pool.run({ deliveries: [input] })).outcomes).toEqual([
    { kind: 'damaged', reason: 'the stored bytes are not those that were accepted' },
  ]);
});
