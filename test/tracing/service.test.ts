import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { accepted, freshKey, type Sender } from '../support/sender.ts';
import { TestWeir } from '../support/test-weir.ts';
import { attributesOf, type ReceivedSpan, Receiver } from './receiver.ts';

const steps = ['accept', 'keep', 'commit', 'parse', 'insert'];
const receiver = new Receiver();
let weir: TestWeir;
let push: Sender;
let document: Sender;

beforeAll(async () => {
  await receiver.listen();
  weir = await TestWeir.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_SERVICE_NAME: 'weir-here',
  });
  push = (await weir.source()).sender;
  document = (await weir.source({ delivery: 'document' })).sender;
});
afterAll(async () => {
  await weir?.stop();
  receiver.close();
});

const traceIdOf = (artifactId: string) => artifactId.replaceAll('-', '');
const spanIdOf = (artifactId: string) => traceIdOf(artifactId).slice(16);
const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.find((span) => span.name === name)!;

test('a push is one trace, whose id is its artifact id', async () => {
  const answer = await push.push({ day: '2026-01-01', amount: '1' });
  const { artifact_id: id } = accepted(answer);
  await push.settled(answer);
  const spans = await receiver.trace(traceIdOf(id), steps);
  expect(spans.map(({ name }) => name).sort()).toEqual([...steps].sort());
  const accept = named(spans, 'accept');
  expect(accept).toMatchObject({ spanId: spanIdOf(id), status: {} });
  expect(accept.parentSpanId).toBeUndefined();
  expect(attributesOf(accept)).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/ingest',
    'http.response.status_code': '202',
    'weir.artifact_id': id,
    'weir.outcome': 'stored',
    'weir.way': 'push',
    'weir.bytes': attributesOf(named(spans, 'keep'))['weir.bytes'],
  });
  for (const name of steps.slice(1)) {
    expect([name, named(spans, name).parentSpanId]).toEqual([name, spanIdOf(id)]);
  }
  expect(attributesOf(named(spans, 'parse'))).toMatchObject({
    'weir.outcome': 'parsed',
    'weir.generation': '0',
    'weir.samples': '1',
  });
  expect(attributesOf(named(spans, 'insert'))).toMatchObject({ 'weir.rows': '1' });
  expect(receiver.text).toContain('"stringValue":"weir-here"');
});

test('steps follow one another within the time of what they are part of', async () => {
  const answer = await document.document(`day,amount\n${'2026-01-02,1\n'.repeat(20_000)}`);
  const { artifact_id: id } = accepted(answer);
  await document.settled(answer);
  const spans = await receiver.trace(traceIdOf(id), steps);
  const [accept, keep, commit, parse, insert] = steps.map((name) => {
    const { startTimeUnixNano, endTimeUnixNano } = named(spans, name);
    return { from: Number(startTimeUnixNano) / 1e6, to: Number(endTimeUnixNano) / 1e6 };
  });
  // Floating point of nanoseconds since 1970 is good to some hundred of them.
  const ascending = [accept!.from, keep!.from, keep!.to, commit!.from, commit!.to, accept!.to];
  for (const [i, at] of ascending.slice(1).entries()) expect(at + 0.01 >= ascending[i]!).toBe(true);
  expect(parse!.from + 0.01).toBeGreaterThan(commit!.to);
  expect(insert!.to).toBeGreaterThan(parse!.to);
  expect(Math.abs(accept!.to - Date.now())).toBeLessThan(60_000);
});

test("a sender's trace is continued by its request, and both traces name each other", async () => {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  const answer = await document.document('day,amount\n2026-01-03,1\n', freshKey(), {
    traceparent: `00-${traceId}-${spanId}-01`,
    tracestate: 'c4nary=c4nary',
  });
  const { artifact_id: id } = accepted(answer);
  const own = await receiver.trace(traceIdOf(id), steps);
  const [request, ...more] = await receiver.trace(traceId, ['POST /v1/ingest']);
  expect(more).toEqual([]);
  expect(request!.parentSpanId).toBe(spanId);
  expect(request!.links).toMatchObject([{ traceId: traceIdOf(id), spanId: spanIdOf(id) }]);
  expect(named(own, 'accept').links).toMatchObject([{ traceId, spanId: request!.spanId }]);
});

test('a receipt that is given again is a trace of its own, which names the delivery', async () => {
  const key = freshKey();
  const { artifact_id: id } = accepted(await document.document('day,amount\n', key));
  await receiver.trace(traceIdOf(id), ['accept']);
  accepted(await document.document('day,amount\n', key));
  const again = async () =>
    receiver.spans.find(({ links }) => links?.[0]?.traceId === traceIdOf(id));
  await expect.poll(again, { timeout: 10_000 }).toMatchObject({ name: 'accept' });
  const span = (await again())!;
  expect(span.traceId).not.toBe(traceIdOf(id));
  expect(attributesOf(span)).toMatchObject({ 'weir.outcome': 'replayed', 'weir.artifact_id': id });
});

test('nothing that a caller sent is in a span, and refused requests leave none', async () => {
  const canary = 'c4nary';
  const headers = { traceparent: `00-${canary}`, tracestate: canary, baggage: `a=${canary}` };
  await ask(`${weir.url}/v1/ingest`, { method: 'POST', headers, body: canary });
  await ask(`${weir.url}/${canary}?${canary}`, { headers });
  await document.document('', canary, headers);
  const answer = await document.document(`day,${canary}\n${canary},1\n`, canary, headers);
  const { artifact_id: id } = accepted(answer);
  await document.settled(answer);
  await receiver.trace(traceIdOf(id), ['accept', 'parse']);
  expect(receiver.text).not.toContain(canary);
  const outcomes = receiver.spans.map((span) => attributesOf(span)['http.response.status_code']);
  expect(new Set(outcomes)).toEqual(new Set([undefined, '202']));
});
