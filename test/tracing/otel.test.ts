import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openTracing } from '../../src/tracing/open.ts';
import type { Answered, Tracing } from '../../src/tracing/tracing.ts';
import { freePort } from '../support/server-process.ts';
import { attributesOf, Receiver } from './receiver.ts';

const artifactId = '019f3a5c-1111-7222-8333-444455556666';
const traceId = artifactId.replaceAll('-', '');
const sender = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
const rows = { samples: [], rejections: [] };
const receiver = new Receiver();
let said: string[] = [];
const log = {
  info: (_: object, message: string) => void said.push(message),
  warn: (_: object, message: string) => void said.push(message),
};

beforeAll(() => receiver.listen());
afterAll(() => receiver.close());
afterEach(() => {
  vi.unstubAllEnvs();
  receiver.spans.length = 0;
  said = [];
});

function open(env: Readonly<Record<string, string>>): Promise<Tracing> {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return openTracing(process.env, log);
}

const stored = (traceparent: string | null = null): Answered => ({
  ...{ began: performance.now(), method: 'POST', route: '/v1/ingest', status: 202, traceparent },
  receiptOf: { artifactId, delivery: 'push', bytes: 7 },
});

/** A delivery that is accepted by one process and parsed by another. */
async function deliver(
  env: Readonly<Record<string, string>>,
  answer = stored(),
): Promise<string[]> {
  const accepting = await open(env);
  accepting.answered!(answer);
  await accepting.close();
  const parsing = await open(env);
  const taker = parsing.rows({ room: async () => {}, add: async () => {} });
  await taker.add(rows, 1, { artifactId, generation: 2 });
  await parsing.close();
  return receiver.spans.map(({ name }) => name).sort();
}

test('processes that know nothing of one another make one trace of a delivery', async () => {
  expect(await deliver({})).toEqual(['accept', 'insert']);
  const [accept, insert] = receiver.spans;
  expect(accept).toMatchObject({ traceId, spanId: traceId.slice(16) });
  expect(insert).toMatchObject({ traceId, parentSpanId: traceId.slice(16) });
  expect(attributesOf(insert!)).toEqual({ 'weir.rows': '1', 'weir.generation': '2' });
});

const from = (flags: string) => stored(`00-${sender.traceId}-${sender.spanId}-${flags}`);

test.each([
  [
    'nothing of what begins here, all of what a sender samples',
    'parentbased_always_off',
    '01',
    ['POST /v1/ingest'],
  ],
  [
    'all of what begins here, nothing of what no sender samples',
    'parentbased_always_on',
    '00',
    ['accept', 'insert'],
  ],
  ['nothing, whatever a sender says', 'always_off', '01', []],
  [
    'everything, whatever a sender says',
    'always_on',
    '00',
    ['POST /v1/ingest', 'accept', 'insert'],
  ],
])('%s: %s', async (_, OTEL_TRACES_SAMPLER, flags, names) => {
  expect(await deliver({ OTEL_TRACES_SAMPLER }, from(flags))).toEqual(names);
});

test('a failure is told by its code, never by its message', async () => {
  const tracing = await open({});
  const error = Object.assign(new Error('c4nary'), { code: 'store_away' });
  const keeper = tracing.keeper({ keep: () => Promise.reject(error) });
  const body = { meta: { artifactId }, body: Buffer.alloc(3) } as unknown as Parameters<
    typeof keeper.keep
  >[0];
  await expect(keeper.keep(body)).rejects.toBe(error);
  tracing.answered!({ ...stored(), status: 503, receiptOf: null });
  tracing.answered!({ ...stored(), status: 400, receiptOf: null });
  await tracing.close();
  expect(receiver.spans.map(({ name, status }) => [name, status.code])).toEqual([
    ['keep', 2],
    ['POST /v1/ingest', 2],
  ]);
  expect(attributesOf(receiver.spans[0]!)).toEqual({ 'error.type': 'store_away' });
  expect(receiver.text).not.toContain('c4nary');
});

test('a backend that is away is told once, and not waited for', async () => {
  const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '200', OTEL_BSP_SCHEDULE_DELAY: '10' };
  const tracing = await open({
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
  for (let i = 0; i < 3; i++) {
    tracing.answered!(stored());
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  const began = performance.now();
  await tracing.close();
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(said).toEqual(['deliveries are traced', 'spans cannot be exported']);
});

test('an answer that has no end is not waited for', async () => {
  receiver.drips = true;
  const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '100', OTEL_BSP_EXPORT_TIMEOUT: '300' };
  const tracing = await open({ ...env, OTEL_BSP_SCHEDULE_DELAY: '10' });
  tracing.answered!(stored());
  await expect.poll(() => said, { timeout: 10_000 }).toContain('spans cannot be exported');
  receiver.drips = false;
  tracing.answered!(stored());
  await expect.poll(() => said, { timeout: 10_000 }).toContain('spans are exported again');
  await tracing.close();
});

test('what cannot be as it was wanted is told, and the rest is done', async () => {
  const names = await deliver({
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'zip',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere.pem',
    OTEL_EXPORTER_OTLP_HEADERS: '=,===',
    OTEL_RESOURCE_ATTRIBUTES: '=,a=b=c,%',
    OTEL_BSP_MAX_QUEUE_SIZE: '-1',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1e9',
    OTEL_BSP_SCHEDULE_DELAY: 'never',
  });
  expect(names).toEqual(['accept', 'insert']);
  expect(said).toContain(
    'traces are sent over OTLP/HTTP, whatever OTEL_EXPORTER_OTLP_PROTOCOL says',
  );
});
