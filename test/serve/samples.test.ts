import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WindowAnswer, WindowQuery } from '../../src/samples/samples.ts';
import { joinRows } from '../../src/samples/window.ts';
import { claimFor, store } from '../catalog/support.ts';
import { parsed, want } from '../contract/catalog/queue.ts';
import { type ApiHere, type HereSource, startApiHere } from '../support/api-here.ts';
import { ask } from '../support/ask.ts';

/** Window reads that are repeated: what is given again, and what never is. */

const docsOrigin = 'https://docs.example.com';

let api: ApiHere;
let source: HereSource;
/** The queries that reached the sample store. */
let queries: WindowQuery[];
/** What the sample store holds: one value. */
let value: string;
/** Called when a query has read the store, before its answer is back. */
let onQuery: () => Promise<void>;

beforeAll(async () => {
  api = await startApiHere({ WEIR_DOCS_ORIGIN: docsOrigin });
  api.window = async (query): Promise<WindowAnswer> => {
    queries.push(query);
    const row = Buffer.from(`${JSON.stringify({ value })}\n`);
    await onQuery();
    return joinRows([row], query.limit, query.around);
  };
});
afterAll(() => api?.stop());
beforeEach(async () => {
  queries = [];
  value = '1';
  onQuery = async () => {};
  source = await api.source();
});

const read = (query = '', headers: Record<string, string> = {}, key = source.key) =>
  ask(`${api.url}/v1/samples?${query}`, {
    headers: { Authorization: `Bearer ${key}`, ...headers },
  });

const valueRead = async () => JSON.parse((await read()).text).samples[0].value;

/** A delivery of the source is reported as parsed, in another process as it were. */
async function report(of = source): Promise<void> {
  await store(api.catalog, claimFor(of.sourceId));
  const jobs = await api.catalog.queue.claim(want());
  await api.catalog.queue.complete(
    jobs.map((job) => parsed(job)),
    api.now,
  );
}

test('a window that was read is given again, byte for byte, without a query', async () => {
  const first = await read('from=2026-01-01&to=2026-02-01');
  value = '2';
  const again = await read('from=2026-01-01&to=2026-02-01');
  expect(again.body).toEqual(first.body);
  expect(again.headers.etag).toBe(first.headers.etag);
  expect(queries).toHaveLength(1);
});

test('from the moment a delivery is reported, reads show what it brought', async () => {
  expect(await valueRead()).toBe('1');
  value = '2';
  await report();
  expect(await valueRead()).toBe('2');
  expect(await valueRead()).toBe('2');
  expect(queries).toHaveLength(2);
});

test('what is reported of another source changes nothing', async () => {
  await read();
  await report(await api.source());
  await read();
  expect(queries).toHaveLength(1);
});

test('a query that was under way when a delivery was reported is not given again', async () => {
  // It has read the store already: what is reported now is not in it.
  onQuery = async () => {
    onQuery = async () => {};
    value = '2';
    await report();
  };
  expect(await valueRead()).toBe('1');
  expect(await valueRead()).toBe('2');
  expect(queries).toHaveLength(2);
});

test('who comes after the report does not share a query that was sent before it', async () => {
  const [sent, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  onQuery = async () => {
    onQuery = async () => {};
    sent.resolve();
    await goOn.promise;
  };
  const early = valueRead();
  await sent.promise;
  value = '2';
  await report();
  expect(await valueRead()).toBe('2');
  goOn.resolve();
  expect(await early).toBe('1');
  expect(await valueRead()).toBe('2');
  expect(queries).toHaveLength(2);
});

test('readers of the same window at once share one query', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => read()));
  expect(new Set(all.map((answer) => answer.text)).size).toBe(1);
  // Those whose connection was made later found the answer there.
  expect(queries).toHaveLength(1);
});

test('readers of a large window share it, packed and plain, and have it again', async () => {
  value = 'x'.repeat(300_000);
  const whole = `{"value":"${value}"}`;
  for (let round = 0; round < 3; round++) {
    const encodings = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? 'gzip' : 'identity'));
    const asked = encodings.map((encoding) => read('', { 'Accept-Encoding': encoding }));
    for (const { headers, body } of await Promise.all(asked)) {
      const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      expect(plain.includes(whole)).toBe(true);
    }
  }
  expect(queries).toHaveLength(2);
});

test('a query that fails is asked again by the next reader', async () => {
  onQuery = async () => {
    onQuery = async () => {};
    throw new Error('broken');
  };
  expect((await read()).status).toBe(500);
  expect((await read()).status).toBe(200);
});

test('whatever shapes the answer is told apart', async () => {
  // The same days, once narrowed and once not.
  const window = 'to=2026-01-01';
  const shaped = [
    window,
    `from=2020-01-01&${window}`,
    `from=2025-01-01&${window}`,
    `${window}&sandbox=true`,
    `${window}&sandbox=false`,
    'to=2025-01-01',
  ];
  const first = [];
  for (const query of shaped) first.push((await read(query)).text);
  const zipped = await read(window, { 'Accept-Encoding': 'gzip' });
  expect(gunzipSync(zipped.body).toString()).toBe(first[0]);
  expect(queries).toHaveLength(shaped.length + 1);
  for (const [i, query] of shaped.entries()) expect((await read(query)).text).toBe(first[i]);
  expect((await read(window, { 'Accept-Encoding': 'gzip' })).body).toEqual(zipped.body);
  expect(queries).toHaveLength(shaped.length + 1);
  expect(JSON.parse(first[1]!).window).toEqual({ ...JSON.parse(first[0]!).window, narrowed: true });
});

test('a window without an end moves on with the day', async () => {
  const before = api.now;
  const { key } = await api.key(source.sourceId, { expiresMs: 2 * 86_400_000 });
  source = { ...source, key };
  const today = JSON.parse((await read()).text).window;
  api.now += 86_400_000;
  expect(JSON.parse((await read()).text).window.to > today.to).toBe(true);
  api.now = before;
});

test('ETag and 304 go on as before', async () => {
  const { etag } = (await read()).headers;
  expect((await read('', { 'If-None-Match': etag! })).status).toBe(304);
  expect(queries).toHaveLength(1);
  value = '2';
  await report();
  const changed = await read('', { 'If-None-Match': etag! });
  expect(changed.status).toBe(200);
  expect(changed.headers.etag).not.toBe(etag);
  // The same bytes again after a report: the reader who has them is told so.
  await report();
  expect((await read('', { 'If-None-Match': changed.headers.etag! })).status).toBe(304);
});

test('every request is judged anew: key, scope, site and rate', async () => {
  const before = Number((await read()).headers['ratelimit-remaining']);
  expect(Number((await read()).headers['ratelimit-remaining'])).toBe(before - 1);
  const write = await api.key(source.sourceId, { scope: 'write' });
  expect((await read('', {}, write.key)).status).toBe(403);
  expect((await read('', { Origin: docsOrigin })).status).toBe(403);
  const sandbox = await api.key(source.sourceId, { sandbox: true });
  expect((await read('', { Origin: docsOrigin }, sandbox.key)).status).toBe(200);
  expect(queries).toHaveLength(1);
  for (let left = before - 1; left > 0; left--) expect((await read()).status).toBe(200);
  expect((await read()).status).toBe(429);
  await api.catalog.directory.revokeKey(sandbox.keyId, api.now);
  expect((await read('', {}, sandbox.key)).status).toBe(401);
});

test('after a turn nothing from before it is given', async () => {
  await read();
  const all = await api.catalog.reparses.takeTurn({
    ...{ sourceId: null, leaseMs: 1_000, now: api.now },
  });
  expect(await valueRead()).toBe('1');
  value = '2';
  await api.catalog.reparses.endTurn(all!.token);
  expect(await valueRead()).toBe('2');
});

test.each([
  ['that ran out', -2_000],
  ['of a clock that was ahead and has been set back', 12 * 365 * 86_400_000],
])('while a turn %s is left, nobody knows: every read asks', async (_, ahead) => {
  const { sourceId } = source;
  await api.catalog.reparses.takeTurn({ sourceId, leaseMs: 1_000, now: api.now + ahead });
  expect(await valueRead()).toBe('1');
  value = '2';
  expect(await valueRead()).toBe('2');
  const next = await api.catalog.reparses.takeTurn({ sourceId, leaseMs: 1_000, now: api.now });
  await api.catalog.reparses.endTurn(next!.token);
  await read();
  expect(queries).toHaveLength(3);
  await read();
  expect(queries).toHaveLength(3);
});
