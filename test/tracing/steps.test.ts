import { expect, test } from 'vitest';
import { type ArtifactStore, StoreAway, type Upload } from '../../src/artifacts/artifacts.ts';
import type { ParseTask } from '../../src/parse/messages.ts';
import { type Step, tracedSteps } from '../../src/tracing/steps.ts';
import type { Parser } from '../../src/tracing/tracing.ts';
import { newObject, sha256 } from '../artifacts/bodies.ts';
import { someMeta } from '../artifacts/some-meta.ts';

let told: Step[] = [];
const traced = tracedSteps({ step: (step) => void told.push(step) });
const meta = someMeta();
const body = Buffer.from('abc');

/** An artifact store whose uploads fail, or not. */
function store(error: Error | null = null) {
  told = [];
  const answer = () => (error ? Promise.reject(error) : Promise.resolve());
  const upload: Upload = { write: answer, commit: answer, abort: async () => {} };
  return traced.uploads<Pick<ArtifactStore, 'begin'>>({ begin: () => upload });
}

test('an upload is told when it is durable, with its delivery and bytes', async () => {
  const upload = store().begin(newObject(), 3, meta);
  await upload.write(body);
  expect(told).toEqual([]);
  await upload.commit(sha256(body));
  const { artifactId } = meta;
  const about = { began: expect.any(Number), attributes: { 'weir.bytes': 3 }, failure: null };
  expect(told).toEqual([{ name: 'keep', artifactId, ...about }]);
});

test('one that fails is told once, by its code', async () => {
  const upload = store(new StoreAway('full')).begin(newObject(), 3, meta);
  await expect(upload.write(body)).rejects.toThrow(StoreAway);
  await expect(upload.commit(sha256(body))).rejects.toThrow(StoreAway);
  expect(told.map(({ failure }) => failure)).toEqual(['store_away']);
});

test('neither one that was given up nor that of a segment is a step', async () => {
  await store().begin(newObject(), 3, meta).abort();
  await store().begin(newObject(), 3, null).commit(sha256(body));
  expect(told).toEqual([]);
});

const counts = { records: 1, parsed: 1, rejected: 0, samples: 1, blank: 0, supersededWithin: 0 };
const done = { kind: 'done', status: 'parsed', counts };
const deliveries = ['a', 'b'].map((artifactId) => ({ artifactId, generation: 0 }));
const task = { deliveries } as unknown as ParseTask;
const parse = (run: () => Promise<unknown>) => {
  told = [];
  return traced.pool<Parser>({ run: run as Parser['run'] }).run(task);
};

test('each delivery of a task is a step, with what became of it', async () => {
  const answer = { outcomes: [done, { kind: 'unreadable', reason: 'c4nary' }] };
  expect(await parse(async () => answer)).toBe(answer);
  expect(told.map(({ artifactId, failure }) => [artifactId, failure])).toEqual([
    ['a', null],
    ['b', 'unreadable'],
  ]);
  expect(told[0]!.attributes).toMatchObject({ 'weir.task_deliveries': 2, 'weir.samples': 1 });
  expect(JSON.stringify(told)).not.toContain('c4nary');
});

test('a task whose thread dies is a failed step of each of its deliveries', async () => {
  await expect(parse(() => Promise.reject(new TypeError('c4nary')))).rejects.toThrow('c4nary');
  expect(told.map(({ artifactId, failure }) => [artifactId, failure])).toEqual([
    ['a', 'TypeError'],
    ['b', 'TypeError'],
  ]);
});
