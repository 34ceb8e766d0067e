import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReferenceSite } from '../../src/http/reference-site.ts';
import { SamplesAway } from '../../src/samples/samples.ts';
import { docsOrigins } from '../../src/start/serve.ts';
import { readSettings } from '../../src/start/settings.ts';
import { type ApiHere, type HereSource, startApiHere } from '../support/api-here.ts';
import { type Answer, ask, jsonOf } from '../support/ask.ts';
import { head, RawSocket } from '../support/raw-socket.ts';
import { accepted } from '../support/sender.ts';
import { TestWeir } from '../support/test-weir.ts';
import { sendWebhook } from '../support/webhook.ts';

/** The reference site's rule, CORS and uses (specification, "Interactive reference site"). */

const site = 'https://docs.example.com';
const good = {
  idempotency_key: 'one',
  shape_version: 1,
  payload: { day: '2026-03-01', amount: '1' },
};
const json = { 'Content-Type': 'application/json' };

let api: ApiHere;
beforeAll(async () => {
  const settings = { WEIR_DOCS_ORIGIN: `${site},http://localhost:9999`, WEIR_RATE_BURST: '5' };
  api = await startApiHere(settings);
});
afterAll(() => api?.stop());

const read = (key: string, headers: Record<string, string> = {}, query = '') =>
  ask(`${api.url}/v1/samples${query}`, { headers: { Authorization: `Bearer ${key}`, ...headers } });
const push = (key: string, headers: Record<string, string> = {}, body = JSON.stringify(good)) =>
  ask(`${api.url}/v1/ingest`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, ...json, ...headers },
    body,
  });

const fromSite: Record<string, Record<string, string>> = {
  'by Origin': { Origin: site },
  'by another origin of the list': { Origin: 'http://localhost:9999' },
  'by Referer alone': { Referer: `${site}/reference/samples?try=1#x` },
  'by Origin, whatever the Referer': { Origin: site, Referer: 'https://other.example/' },
};

const fromElsewhere: Record<string, Record<string, string>> = {
  'no origin': {},
  'another origin': { Origin: 'https://other.example' },
  'its origin with another scheme': { Origin: 'http://docs.example.com' },
  'its origin with another port': { Origin: `${site}:8443` },
  'an origin that only begins like it': { Origin: `${site}.evil.example` },
  'an origin below it': { Origin: 'https://a.docs.example.com' },
  'an opaque origin': { Origin: 'null', Referer: `${site}/` },
  'another Origin, whatever the Referer': { Origin: 'https://other.example', Referer: `${site}/` },
  'a Referer that only names it': { Referer: `https://other.example/?${site}` },
  'a Referer that is no address': { Referer: 'docs.example.com' },
};

describe('a production key', () => {
  test.each(Object.entries(fromSite))('from the site (%s) is 403', async (_, headers) => {
    const { key, keyId } = await api.source();
    let reads = 0;
    api.window = async () => {
      reads += 1;
      return { json: Buffer.from('[]'), count: 0, truncated: false };
    };
    for (const answer of [await read(key, headers), await push(key, headers)]) {
      const message = 'The reference site takes sandbox keys only.';
      expect([answer.status, jsonOf(answer)]).toEqual([
        403,
        { code: 'docs_origin_needs_sandbox', message },
      ]);
      expect(answer.headers['ratelimit-limit']).toBeUndefined();
    }
    expect([reads, api.uses.includes(keyId)]).toEqual([0, false]);
  });

  test.each(Object.entries(fromElsewhere))('from elsewhere (%s) is taken', async (_, headers) => {
    const { key } = await api.source();
    for (const answer of [await read(key, headers), await push(key, headers)]) {
      expect(answer.status).toBeLessThan(300);
      expectNoCors(answer);
    }
  });

  test('from the site is refused before one byte of its body is read', async () => {
    const { key } = await api.source();
    const socket = await RawSocket.open(api.port);
    const own = { Authorization: `Bearer ${key}`, Origin: site, 'Content-Length': '5000000' };
    socket.write(head('POST /v1/ingest', own));
    expect((await socket.answer()).status).toBe(403);
    socket.destroy();
  });

  test('of another scope is told of the site first, an unknown one of neither', async () => {
    const { key } = await api.source('push', { scope: 'read' });
    const refused = await push(key, { Origin: site });
    expect(jsonOf<{ code: string }>(refused).code).toBe('docs_origin_needs_sandbox');
    expect((await push('wk_live_unknown', { Origin: site })).status).toBe(401);
  });
});

test.each(Object.entries(fromSite))(
  'a sandbox key from the site (%s) works',
  async (_, headers) => {
    const { key, keyId } = await api.source('push', { sandbox: true });
    expect((await read(key, headers)).status).toBe(200);
    const receipt = accepted(await push(key, headers));
    expect([receipt.sandbox, api.uses.includes(keyId)]).toEqual([true, true]);
  },
);

describe('CORS', () => {
  const from = { Origin: site };

  const answers: Record<string, readonly [number, (source: HereSource) => Promise<Answer>]> = {
    '200': [200, ({ key }) => read(key, from)],
    '202': [202, ({ key }) => push(key, from)],
    '304': [
      304,
      async ({ key }) =>
        read(key, { ...from, 'If-None-Match': String((await read(key)).headers.etag) }),
    ],
    '400': [400, ({ key }) => read(key, from, '?from=x')],
    '401': [401, () => read('wk_live_unknown', from)],
    '403 of a scope': [403, async ({ sourceId }) => push(await readerOf(sourceId), from)],
    '403 of the site': [403, async ({ sourceId }) => read((await api.key(sourceId)).key, from)],
    '404 of a path': [404, () => ask(`${api.url}/v1/nowhere`, { headers: from })],
    '404 of a webhook': [404, (source) => hook(source, 'whsec_wrong')],
    '405': [405, () => ask(`${api.url}/v1/samples`, { method: 'DELETE', headers: from })],
    '413': [413, ({ key }) => push(key, from, 'x'.repeat(8_388_609))],
    '415': [415, (source) => hook(source, source.secret, { 'Content-Type': 'text/plain' })],
    '429': [
      429,
      async ({ key }) => {
        for (let i = 0; i < 5; i++) await read(key);
        return read(key, from);
      },
    ],
    '500': [500, ({ key }) => failing(key, new Error('odd'))],
    '503': [503, ({ key }) => failing(key, new SamplesAway('away'))],
  };
  test.each(Object.entries(answers))('%s carries its headers', async (_, [status, send]) => {
    const answer = await send(await api.source('push', { sandbox: true }));
    expect(answer.status).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBe(site);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers.vary).toContain('Origin');
    const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase();
    const readable = exposed.split(', ');
    for (const name of Object.keys(answer.headers)) {
      if (/^(ratelimit|retry|idempotency|etag|allow|www)/.test(name)) {
        expect(readable).toContain(name);
      }
    }
  });

  test.each(['/v1/samples', '/v1/ingest', '/v1/deliveries/x', '/v1/webhooks/x'])(
    'a preflight for %s is answered without a key, a body or a token',
    async (path) => {
      const method = path === '/v1/ingest' || path.includes('webhooks') ? 'POST' : 'GET';
      const asked = 'authorization, content-type, idempotency-key, x-service-shape-version';
      const socket = await RawSocket.open(api.port);
      const own = {
        Origin: site,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': asked,
      };
      // Twice on one connection: the first must have ended where it ends.
      for (let i = 0; i < 2; i++) {
        socket.write(head(`OPTIONS ${path}`, own));
        await expect.poll(() => socket.received).toMatch(/\r\n\r\n$/);
        expect(socket.received).toMatch(/^HTTP\/1.1 204 /);
        expect(socket.received).toContain(`\r\nAccess-Control-Allow-Origin: ${site}\r\n`);
        expect(socket.received).toContain(`\r\nAccess-Control-Allow-Methods: ${method}\r\n`);
        const allowed = /\r\nAccess-Control-Allow-Headers: (.*)\r\n/.exec(socket.received)?.[1];
        const names = allowed?.toLowerCase().split(', ');
        for (const name of asked.split(', ')) expect(names).toContain(name);
        // RFC 9110, section 8.6.
        expect(socket.received).not.toMatch(/\r\n(content-length|ratelimit-\w+):/i);
        socket.forget();
      }
      socket.destroy();
    },
  );

  test('a preflight from elsewhere, or what is none, is 405 without CORS', async () => {
    const asks = { 'Access-Control-Request-Method': 'GET' };
    for (const headers of [asks, { ...asks, Origin: 'https://other.example' }]) {
      const answer = await ask(`${api.url}/v1/samples`, { method: 'OPTIONS', headers });
      expect(answer.status).toBe(405);
      expectNoCors(answer);
    }
    const bare = { method: 'OPTIONS', headers: { Origin: site } };
    expect((await ask(`${api.url}/v1/samples`, bare)).status).toBe(405);
  });

  test('a preflight whose end cannot be told is refused and ends the connection', async () => {
    const socket = await RawSocket.open(api.port);
    const own = { Origin: site, 'Access-Control-Request-Method': 'GET' };
    const bytes = head('OPTIONS /v1/samples', own).slice(0, -2);
    socket.write(`${bytes}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`);
    expect((await socket.answer()).status).toBe(405);
    expect(await socket.end(2_000)).toBe(true);
  });

  test('errors to other origins carry no CORS headers', async () => {
    const headers = { Origin: 'https://other.example' };
    for (const answer of [
      await read('wk_live_unknown', headers),
      await ask(`${api.url}/nowhere`, { headers }),
      await ask(`${api.url}/v1/samples`, { method: 'PUT', headers }),
    ]) {
      expectNoCors(answer);
    }
  });

  function hook(source: HereSource, secret: string, more: Record<string, string> = {}) {
    const time = Math.floor(api.now / 1_000);
    const headers = { ...json, 'Service-Delivery-Id': 'x', ...from, ...more };
    const signature = { 'Service-Signature': `t=${time},v1=${'0'.repeat(64)}` };
    const url = `${api.url}/v1/webhooks/${source.sourceId}`;
    return ask(url, { method: 'POST', headers: { ...signature, ...headers }, body: secret });
  }

  async function readerOf(sourceId: string): Promise<string> {
    return (await api.key(sourceId, { scope: 'read', sandbox: true })).key;
  }

  async function failing(key: string, error: Error): Promise<Answer> {
    const { window } = api;
    api.window = () => Promise.reject(error);
    try {
      return await read(key, from);
    } finally {
      api.window = window;
    }
  }
});

describe('origins of the list', () => {
  test.each([
    ['https://Docs.Example.com', 'https://docs.example.com'],
    ['https://docs.example.com/', 'https://docs.example.com'],
    ['https://docs.example.com:443', 'https://docs.example.com'],
    ['http://127.0.0.1:80', 'http://127.0.0.1'],
  ])('%s is what browsers send as %s', (origin, sent) => {
    const headers: Record<string, string> = { origin: sent };
    const request = {
      method: 'GET',
      firstHeader: (name: string) => headers[name.toLowerCase()] ?? null,
    };
    const made = new ReferenceSite([origin]);
    expect(made.originOf(request as Parameters<typeof made.originOf>[0])).toBe(sent);
  });

  test.each(['docs.example.com', 'https://docs.example.com/path', '*', 'null', 'ftp://x', ''])(
    '%j is refused at the start',
    (origin) => {
      expect(() => new ReferenceSite([origin])).toThrow(/^WEIR_DOCS_ORIGIN: .* is no origin/);
    },
  );
});

describe('where it is', () => {
  test('as set, and nowhere else', () => {
    const set = readSettings({ WEIR_DOCS_ORIGIN: `${site}, http://localhost:9999` });
    expect(docsOrigins(set)).toEqual([site, 'http://localhost:9999']);
  });

  test('wherever the app is, when nothing is set: by number, by name, behind a proxy', () => {
    const settings = { WEIR_APP_LISTEN: '127.0.0.1:7001', WEIR_APP_URL: 'https://weir.example/' };
    expect(docsOrigins(readSettings(settings))).toEqual([
      ...['http://127.0.0.1:7001', 'http://localhost:7001', 'https://weir.example'],
    ]);
  });
});

describe('last uses, on a running weir', () => {
  let weir: TestWeir;
  beforeAll(async () => {
    weir = await TestWeir.start({
      WEIR_DOCS_ORIGIN: site,
      WEIR_RATE_BURST: '2',
      WEIR_RATE_PER_MINUTE: '1',
    });
  });
  afterAll(() => weir?.stop());

  test('are recorded within 10 seconds, and never by a refused request', async () => {
    const { directory } = weir.catalog;
    const source = await weir.source();
    const hooked = await weir.source({ delivery: 'webhook' });
    const refused = [
      [await source.withKey(), (key: string) => weirRead(key, { Origin: site }), 403],
      [await source.withKey({ scope: 'write' }), (key: string) => weirRead(key), 403],
      [await source.withKey({ expiresMs: -1 }), (key: string) => weirRead(key), 401],
      [await source.withKey(), (key: string) => weirRead(key, {}, '?from=x'), 400],
      [await hooked.withKey(), (key: string) => weirPush(key), 403],
    ] as const;
    for (const [{ key }, send, status] of refused) expect((await send(key)).status).toBe(status);
    const before = Date.now();
    const limited = await source.withKey();
    for (const status of [200, 200]) expect((await weirRead(limited.key)).status).toBe(status);
    const lastAdmitted = Date.now();
    expect((await sendWebhook(hooked)).status).toBe(202);
    expect((await sendWebhook(hooked, { secret: 'whsec_wrong' })).status).toBe(404);

    const useOf = async (keyId: string) => (await directory.key(keyId))!.lastUsedAt;
    await expect.poll(() => useOf(limited.keyId), { timeout: 10_000 }).not.toBeNull();
    const used = (await useOf(limited.keyId))!;
    expect([used >= before, used <= lastAdmitted]).toEqual([true, true]);
    const [secret] = await directory.secrets(hooked.sourceId);
    expect(secret!.lastUsedAt).toBeGreaterThanOrEqual(before);
    for (const [{ keyId }] of refused) expect(await useOf(keyId)).toBeNull();

    // A 429 changes nothing: another key's use shows that the next record has been written.
    expect((await weirRead(limited.key)).status).toBe(429);
    const later = await source.withKey();
    expect((await weirRead(later.key)).status).toBe(200);
    await expect.poll(() => useOf(later.keyId), { timeout: 10_000 }).not.toBeNull();
    expect(await useOf(limited.keyId)).toBe(used);
  });

  const weirRead = (key: string, headers: Record<string, string> = {}, query = '') =>
    ask(`${weir.url}/v1/samples${query}`, {
      headers: { Authorization: `Bearer ${key}`, ...headers },
    });
  const weirPush = (key: string) =>
    ask(`${weir.url}/v1/ingest`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, ...json },
      body: JSON.stringify(good),
    });
});

function expectNoCors(answer: Answer): void {
  const names = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
  expect(names).toEqual([]);
}
