import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CatalogAway } from '../../src/catalog/catalog.ts';
import { errorFields } from '../../src/domain/errors.ts';
import { limits } from '../../src/domain/limits.ts';
import { type ApiHere, startApiHere } from '../support/api-here.ts';
import { type Answer, ask, jsonOf, type Question } from '../support/ask.ts';
import { accepted, freshKey } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { goodEvent, sendWebhook, signature } from '../support/webhook.ts';
import { documentedAnswers, judged } from './document.ts';

const good = { day: '2026-03-01', amount: '1' };
const tooLarge = Buffer.alloc(limits.deliveryBytesMax + 1, 0x20);
const post = { method: 'POST', headers: {} };

/** Which answers were produced; each was held to the document. */
const seen = new Set<string>();

/** Holds an answer to the document, and to the name it should have there. */
function expectAnswer(name: string, answer: Answer): void {
  const [operation = ''] = name.split(' ');
  expect(judged(operation, answer)).toBe(name);
  if (answer.status >= 400) {
    const { field } = jsonOf<{ field?: string }>(answer);
    const isKnown = field === undefined || [...errorFields].includes(field as never);
    expect(isKnown || field.startsWith('payload.'), field).toBe(true);
  }
  seen.add(name);
}

describe('every answer of the document, from a live weir', () => {
  let weir: TestWeir;
  let source: TestSource;
  let webhooks: TestSource;
  let artifactId: string;
  /** Headers of a request from the reference site. */
  let site: { Origin: string };

  beforeAll(async () => {
    weir = await TestWeir.start();
    source = await weir.source();
    webhooks = await weir.source({ delivery: 'webhook' });
    site = { Origin: `http://127.0.0.1:${weir.running.place.app}` };
    const receipt = await source.sender.push(good);
    artifactId = accepted(receipt).artifact_id;
    await source.sender.settled(receipt);
  });
  afterAll(() => weir?.stop());

  const bearer = (key = source.sender.key) => ({ Authorization: `Bearer ${key}` });
  const at = (path: string, question: Question = {}) => ask(`${weir.url}${path}`, question);

  test('ingest', async () => {
    const { sender } = source;
    const reader = await source.withKey({ scope: 'read' });
    const documents = await weir.source({ delivery: 'document' });
    const json = { 'Content-Type': 'application/json' };
    const key = freshKey();
    expectAnswer('ingest 202', await sender.push(good, key));
    expectAnswer('ingest 202', await sender.push({ ...good, amount: '2' }, key));
    expectAnswer('ingest 202', await documents.sender.document('day,amount\n2026-03-01,1\n'));
    expectAnswer('ingest 202', await (await source.withKey({ sandbox: true })).push(good));
    expectAnswer('ingest 400 invalid_argument', await sender.push({ day: 1 }));
    expectAnswer('ingest 400 invalid_argument', await sender.push({ day: '2026-03-01' }));
    expectAnswer('ingest 400 invalid_argument', await documents.sender.document('x', 'a b'));
    expectAnswer('ingest 401 unauthenticated', await at('/v1/ingest', post));
    expectAnswer('ingest 403 insufficient_scope', await reader.push(good));
    expectAnswer('ingest 403 insufficient_scope', await webhooks.sender.push(good));
    const fromSite = await sender.ingest('{}', { ...json, ...site });
    expectAnswer('ingest 403 docs_origin_needs_sandbox', fromSite);
    expectAnswer('ingest 413 invalid_argument', await sender.pushText(tooLarge));
  });

  test('getSamples', async () => {
    const { sender } = source;
    const day = '/v1/samples?from=2026-03-01&to=2026-03-02';
    const first = await sender.get(day);
    expectAnswer('getSamples 200', first);
    expect(jsonOf<{ samples: unknown[] }>(first).samples).toHaveLength(1);
    // Pushes of the cases before may still be parsed: then the window changes between two reads.
    await vi.waitFor(async () => {
      const known = { 'If-None-Match': (await sender.get(day)).headers.etag! };
      expectAnswer('getSamples 304', await sender.get(day, known));
    }, 20_000);
    expectAnswer('getSamples 200', await sender.get('/v1/samples?sandbox=true'));
    for (const query of ['from=x', 'to=2026-02-30', 'sandbox=1', 'from=2026-01-01&to=2026-01-01']) {
      const refused = await sender.get(`/v1/samples?${query}`);
      expectAnswer('getSamples 400 invalid_argument', refused);
    }
    expectAnswer('getSamples 401 unauthenticated', await at('/v1/samples'));
    const writer = await source.withKey({ scope: 'write' });
    expectAnswer('getSamples 403 insufficient_scope', await writer.get('/v1/samples'));
    const fromSite = await sender.get('/v1/samples', site);
    expectAnswer('getSamples 403 docs_origin_needs_sandbox', fromSite);
  });

  test('getDelivery', async () => {
    const { sender } = source;
    const path = `/v1/deliveries/${artifactId}`;
    expectAnswer('getDelivery 200', await sender.get(path));
    const bad = await sender.push({ day: 'no day', amount: 'no amount' });
    await sender.settled(bad);
    const rejected = await sender.get(`/v1/deliveries/${accepted(bad).artifact_id}`);
    expectAnswer('getDelivery 200', rejected);
    expect(jsonOf<{ rejections: unknown[] }>(rejected).rejections).toHaveLength(2);
    const twice = { headers: { Authorization: ['Bearer a', 'Bearer b'] } };
    expectAnswer('getDelivery 400 invalid_argument', await at(path, twice));
    expectAnswer('getDelivery 401 unauthenticated', await at(path));
    expectAnswer('getDelivery 403 docs_origin_needs_sandbox', await sender.get(path, site));
    expectAnswer('getDelivery 404 not_found', await sender.get('/v1/deliveries/none'));
    const other = await at(path, { headers: bearer(webhooks.sender.key) });
    expectAnswer('getDelivery 404 not_found', other);
  });

  test('deliverWebhook', async () => {
    const deliveryId = freshKey();
    expectAnswer('deliverWebhook 202', await sendWebhook(webhooks, { deliveryId }));
    expectAnswer('deliverWebhook 202', await sendWebhook(webhooks, { deliveryId }));
    const withHeaders = (headers: Record<string, string | undefined>) =>
      sendWebhook(webhooks, { headers });
    for (const bad of [
      { 'Service-Signature': 't=1' },
      { 'Service-Delivery-Id': 'a b' },
      { 'X-Service-Shape-Version': '7' },
    ]) {
      expectAnswer('deliverWebhook 400 invalid_argument', await withHeaders(bad));
    }
    const unsigned = await withHeaders({ 'Service-Signature': undefined });
    expectAnswer('deliverWebhook 401 unauthenticated', unsigned);
    const badlySigned = await sendWebhook(webhooks, { secret: 'whsec_other' });
    expectAnswer('deliverWebhook 404 not_found', badlySigned);
    const large = await sendWebhook(webhooks, { body: tooLarge });
    expectAnswer('deliverWebhook 413 too_large', large);
    const xml = await withHeaders({ 'Content-Type': 'text/xml' });
    expectAnswer('deliverWebhook 415 unsupported_media_type', xml);
  });

  test('getOpenapi', async () => {
    const first = await at('/openapi.json');
    expectAnswer('getOpenapi 200', first);
    expect(jsonOf<{ servers: unknown }>(first).servers).toEqual([{ url: weir.url }]);
    const { etag } = first.headers;
    const known = await at('/openapi.json', { headers: { 'If-None-Match': etag! } });
    expectAnswer('getOpenapi 304', known);
    const twice = await at('/openapi.json', { headers: { 'If-None-Match': ['"a"', '"b"'] } });
    expectAnswer('getOpenapi 400 invalid_argument', twice);
  });

  test('the document is on the app listener too, open to the reference site', async () => {
    const url = `${site.Origin}/openapi.json`;
    const answer = await ask(url, { headers: site });
    expect(answer.text).toBe((await at('/openapi.json')).text);
    expect(answer.headers['access-control-allow-origin']).toBe(site.Origin);
  });

  test('what belongs to no operation: an unknown address, another method', async () => {
    const nowhere = await at('/v1/nothing');
    expect([nowhere.status, jsonOf<{ code: string }>(nowhere).code]).toEqual([404, 'not_found']);
    const other = await at('/v1/ingest');
    const { code } = jsonOf<{ code: string }>(other);
    expect([other.status, code, other.headers.allow]).toEqual([405, 'method_not_allowed', 'POST']);
  });
});

describe('the answers that need a fault or a spent rate', () => {
  let here: ApiHere;
  beforeAll(async () => {
    here = await startApiHere({ WEIR_RATE_PER_MINUTE: '1', WEIR_RATE_BURST: '1' });
  });
  afterAll(() => here?.stop());

  /** One good request for each operation, each with a key of its own; twice it is 429. */
  async function requests() {
    const push = await here.source('push');
    const webhooks = await here.source('webhook');
    const headers = { Authorization: `Bearer ${push.key}` };
    const other = { Authorization: `Bearer ${(await here.key(push.sourceId)).key}` };
    const third = { Authorization: `Bearer ${(await here.key(push.sourceId)).key}` };
    const body = JSON.stringify({ idempotency_key: freshKey(), shape_version: 1, payload: good });
    const json = { 'Content-Type': 'application/json' };
    const signed = () => {
      const [id, t] = [freshKey(), Math.floor(here.now / 1_000)];
      const v1 = signature(webhooks.secret, t, id, goodEvent);
      return { ...json, 'Service-Delivery-Id': id, 'Service-Signature': `t=${t},v1=${v1}` };
    };
    const at = (path: string, question: Question) => ask(`${here.url}${path}`, question);
    return {
      ingest: () => at('/v1/ingest', { ...post, headers: { ...headers, ...json }, body }),
      getSamples: () => at('/v1/samples', { headers: other }),
      getDelivery: () => at(`/v1/deliveries/${push.sourceId}`, { headers: third }),
      deliverWebhook: () =>
        at(`/v1/webhooks/${webhooks.sourceId}`, { ...post, headers: signed(), body: goodEvent }),
    };
  }

  test('429 with Retry-After when the rate is spent', async () => {
    for (const [operation, request] of Object.entries(await requests())) {
      expect((await request()).status, operation).not.toBe(429);
      expectAnswer(`${operation} 429 rate_limited`, await request());
    }
  });

  const faults = [
    { status: 503, fault: new CatalogAway('the catalog is away') },
    { status: 500, fault: new TypeError('a defect') },
  ];
  test.each(faults)('$status when what is needed fails: $fault.message', async (row) => {
    const asked = await requests();
    const { lookup } = here.catalog;
    const sound = { ...lookup };
    const fail = () => Promise.reject(row.fault);
    Object.assign(lookup, { key: fail, signedSource: fail });
    try {
      for (const [operation, request] of Object.entries(asked)) {
        const answer = await request();
        expectAnswer(`${operation} ${row.status} internal`, answer);
        expect(answer.text).not.toContain(row.fault.message);
      }
    } finally {
      Object.assign(lookup, sound);
    }
  });
});

test('nothing of the document was left out', () => {
  expect([...seen].sort()).toEqual(documentedAnswers().sort());
});
