import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { type Answer, ask, type Question } from '../support/ask.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { goodEvent, webhookHead } from '../support/webhook.ts';

/** Headers that every answer of every listener carries (SECURITY.md, "Headers"). */

let weir: TestWeir;
let push: TestSource;
let hook: TestSource;
const site = 'https://docs.example.com';
beforeAll(async () => {
  weir = await TestWeir.start({ WEIR_DOCS_ORIGIN: site });
  push = await weir.source();
  hook = await weir.source({ delivery: 'webhook' });
});
afterAll(() => weir?.stop());

type Asking = [status: number, path: string, question?: Question];

const key = () => ({ Authorization: `Bearer ${push.sender.key}` });
const json = { 'Content-Type': 'application/json' };
const post = (headers: Question['headers'], body?: string): Question => ({
  method: 'POST',
  headers: headers ?? {},
  ...(body === undefined ? {} : { body }),
});
const body = (day: string) =>
  `{"idempotency_key":"${day}","shape_version":1,"payload":{"day":"${day}","amount":"1"}}`;

const apiAnswers: Record<string, () => Asking> = {
  'a receipt': () => [202, '/v1/ingest', post({ ...key(), ...json }, body('2026-01-01'))],
  'a receipt again': () => [202, '/v1/ingest', post({ ...key(), ...json }, body('2026-01-01'))],
  'a bad body': () => [400, '/v1/ingest', post({ ...key(), ...json }, '{')],
  'a read': () => [200, '/v1/samples', { headers: key() }],
  'a bad date': () => [400, '/v1/samples?from=x', { headers: key() }],
  'no key': () => [401, '/v1/samples'],
  'a live key from the reference site': () => [
    403,
    '/v1/samples',
    { headers: { ...key(), Origin: site } },
  ],
  'a preflight': () => [
    204,
    '/v1/samples',
    { method: 'OPTIONS', headers: { Origin: site, 'Access-Control-Request-Method': 'GET' } },
  ],
  'an unknown delivery': () => [404, '/v1/deliveries/x', { headers: key() }],
  'an unknown path': () => [404, '/x'],
  'another method': () => [405, '/v1/samples', { method: 'PUT' }],
  'a HEAD': () => [405, '/v1/samples', { method: 'HEAD' }],
  'a body that is too long': () => [
    413,
    '/v1/ingest',
    post({ ...key(), ...json }, ' '.repeat(limits.deliveryBytesMax + 1)),
  ],
  'a webhook': () => [202, `/v1/webhooks/${hook.sourceId}`, post(webhookHead(hook), goodEvent)],
  'a webhook of another type': () => [
    415,
    `/v1/webhooks/${hook.sourceId}`,
    post({ ...(webhookHead(hook) as object), 'Content-Type': 'text/xml' }, goodEvent),
  ],
  'a webhook with a wrong secret': () => [
    404,
    `/v1/webhooks/${hook.sourceId}`,
    post(webhookHead(hook, { secret: 'whsec_guessed' }), goodEvent),
  ],
  'the API document': () => [200, '/openapi.json'],
};

describe('on the API', () => {
  test.each(Object.entries(apiAnswers))('%s', async (_, asking) => {
    const [status, path, question] = asking();
    expectHeaders(await ask(`${weir.url}${path}`, question), status);
  });

  test.each(['/v1/samples', '/openapi.json'])('what has not changed of %s', async (path) => {
    const { etag } = (await ask(`${weir.url}${path}`, { headers: key() })).headers;
    const headers = { ...key(), 'If-None-Match': etag! };
    expectHeaders(await ask(`${weir.url}${path}`, { headers }), 304);
  });
});

describe.each(['app', 'ops'] as const)('on the %s listener', (listener) => {
  const paths = { app: ['/openapi.json'], ops: ['/livez', '/readyz', '/metrics'] }[listener];
  const at = (path: string) => `http://127.0.0.1:${weir.running.place[listener]}${path}`;
  test.each(paths)('%s', async (path) => expectHeaders(await ask(at(path)), 200));
  test('an unknown path and another method', async () => {
    expectHeaders(await ask(at('/x')), 404);
    expectHeaders(await ask(at(paths[0]!), { method: 'DELETE' }), 405);
  });
});

function expectHeaders({ status, headers, body: bytes }: Answer, expected: number): void {
  expect(status).toBe(expected);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(headers['cache-control']).toMatch(/^(no-store|no-cache|private, no-cache)$/);
  if (bytes.length > 0) expect(headers['content-type']).toBeDefined();
  for (const name of ['server', 'x-powered-by']) expect(headers[name]).toBeUndefined();
}
