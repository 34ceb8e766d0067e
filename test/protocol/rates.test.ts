import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiHere, type HereSource, startApiHere } from '../support/api-here.ts';
import { type Answer, ask, jsonOf } from '../support/ask.ts';
import { freshKey } from '../support/sender.ts';
import { TestWeir } from '../support/test-weir.ts';
import { goodEvent, sendWebhook, signature } from '../support/webhook.ts';

/** Rates (specification, "Limits"; DECISIONS 7). */

const good = { day: '2026-03-01', amount: '1' };

function rateOf({ headers }: Answer) {
  const number = (name: string) =>
    headers[name] === undefined ? undefined : Number(headers[name]);
  return {
    limit: number('ratelimit-limit'),
    remaining: number('ratelimit-remaining'),
    reset: number('ratelimit-reset'),
    retryAfter: number('retry-after'),
  };
}

const noRate = {
  limit: undefined,
  remaining: undefined,
  reset: undefined,
  retryAfter: undefined,
};

describe('on a running weir with a burst of 3', () => {
  let weir: TestWeir;
  beforeAll(async () => {
    weir = await TestWeir.start({ WEIR_RATE_PER_MINUTE: '20', WEIR_RATE_BURST: '3' });
  });
  afterAll(() => weir?.stop());

  test('three are admitted, the fourth is 429, and who waits Retry-After is admitted', async () => {
    const { sender } = await weir.source();
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await sender.push({ ...good, amount: String(i) }));
    expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202, 429]);
    const refused = answers[3]!;
    const message = expect.any(String);
    expect(jsonOf(refused)).toEqual({ code: 'rate_limited', message });
    expectSpent(rateOf(refused));
    await sleep(rateOf(refused).retryAfter! * 1_000);
    expect((await sender.push(good)).status).toBe(202);
  });

  test('a webhook source has a rate of its own, with the same headers', async () => {
    const source = await weir.source({ delivery: 'webhook' });
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await sendWebhook(source));
    expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202, 429]);
    expect(answers.slice(0, 3).map((answer) => rateOf(answer).remaining)).toEqual([2, 1, 0]);
    expectSpent(rateOf(answers[3]!));
    // Its key reads on.
    expect((await source.sender.get('/v1/samples')).status).toBe(200);
  });
});

/** A token comes every three seconds; the requests themselves may have taken one or two. */
function expectSpent({ limit, remaining, reset, retryAfter }: ReturnType<typeof rateOf>): void {
  expect([limit, remaining]).toEqual([20, 0]);
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(3);
  expect(reset).toBe(retryAfter! + 6);
}

describe('with a clock that tests set', () => {
  let api: ApiHere;
  beforeAll(async () => {
    api = await startApiHere();
  });
  afterAll(() => api?.stop());

  const read = ({ key }: HereSource, headers: Record<string, string> = {}, query = '') =>
    ask(`${api.url}/v1/samples${query}`, {
      headers: { Authorization: `Bearer ${key}`, ...headers },
    });
  const pushText = ({ key }: HereSource, body: string) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    return ask(`${api.url}/v1/ingest`, { method: 'POST', headers, body });
  };
  const push = (source: HereSource) =>
    pushText(
      source,
      JSON.stringify({ idempotency_key: freshKey(), shape_version: 1, payload: good }),
    );
  const webhook = (source: HereSource, secret = source.secret, more: object = {}) => {
    const [id, time] = [freshKey(), Math.floor(api.now / 1_000)];
    const headers = {
      'Content-Type': 'application/json',
      'Service-Delivery-Id': id,
      'Service-Signature': `t=${time},v1=${signature(secret, time, id, goodEvent)}`,
      ...more,
    };
    const url = `${api.url}/v1/webhooks/${source.sourceId}`;
    return ask(url, { method: 'POST', headers, body: goodEvent });
  };

  const ways = {
    pushes: { delivery: 'push', send: push, good: 202 },
    reads: { delivery: 'push', send: (source: HereSource) => read(source), good: 200 },
    webhooks: { delivery: 'webhook', send: (source: HereSource) => webhook(source), good: 202 },
    'reads and pushes of one key together': {
      delivery: 'push',
      send: (source: HereSource, i: number) => (i % 2 ? push(source) : read(source)),
      good: [200, 202],
    },
  } as const;
  test.each(Object.entries(ways))(
    '%s over three minutes: 20 and one a second are admitted, never one more',
    async (_, { delivery, send, good: admittedStatus }) => {
      const source = await api.source(delivery);
      const began = api.now;
      let admitted = 0;
      // Twenty at once, then two of three in vain; the last moment counts in full.
      const steps = [...Array(25).fill(0), ...Array.from({ length: 540 }, (_, i) => (i + 1) * 333)];
      for (const [i, step] of [...steps, 180_000].entries()) {
        api.now = began + step;
        const answer = await send(source, i);
        expect([admittedStatus, 429].flat()).toContain(answer.status);
        if (answer.status !== 429) admitted += 1;
        const most = 20 + Math.floor(step / 1_000);
        expect(admitted).toBeLessThanOrEqual(most);
      }
      expect(admitted).toBe(20 + 180);
    },
  );

  test('Retry-After is true to the second, whenever in a second one asks', async () => {
    for (const offset of [0, 1, 499, 999]) {
      const source = await api.source();
      for (let i = 0; i < 20; i++) expect((await read(source)).status).toBe(200);
      api.now += offset;
      const refused = await read(source);
      expect(refused.status).toBe(429);
      api.now += rateOf(refused).retryAfter! * 1_000 - 1_000;
      if (offset > 0) expect((await read(source)).status).toBe(429);
      api.now += 1_000;
      expect((await read(source)).status).toBe(200);
    }
  });

  test('the headers tell what is left, and when the bucket is full again', async () => {
    const source = await api.source();
    const rates = [];
    for (let i = 0; i < 3; i++) rates.push(rateOf(await read(source)));
    const rate = { limit: 60, retryAfter: undefined };
    expect(rates).toEqual([
      { ...rate, remaining: 19, reset: 1 },
      { ...rate, remaining: 18, reset: 2 },
      { ...rate, remaining: 17, reset: 3 },
    ]);
    api.now += 1_500;
    expect(rateOf(await read(source))).toEqual({ ...rate, remaining: 17, reset: 3 });
    api.now += rateOf(await read(source)).reset! * 1_000;
    expect(rateOf(await read(source)).remaining).toBe(19);
  });

  test('a key, another key of its source and a webhook source count apart', async () => {
    const source = await api.source();
    const other = { ...source, ...(await api.key(source.sourceId)) };
    const hook = await api.source('webhook');
    for (let i = 0; i < 20; i++) await read(source);
    expect((await push(source)).status).toBe(429);
    expect(rateOf(await read(other)).remaining).toBe(19);
    expect(rateOf(await webhook(hook)).remaining).toBe(19);
    expect(rateOf(await webhook(await api.source('webhook'))).remaining).toBe(19);
  });

  test('304, 400 and 404 of a delivery take a token, and carry the headers', async () => {
    const source = await api.source();
    const etag = String((await read(source)).headers.etag);
    const answers = [
      await read(source, { 'If-None-Match': etag }),
      await read(source, {}, '?from=yesterday'),
      await pushText(source, '{'),
      await ask(`${api.url}/v1/deliveries/01a1fb42-67ec-725a-ba18-bed032c51381`, {
        headers: { Authorization: `Bearer ${source.key}` },
      }),
    ];
    const seen = answers.map((answer) => [answer.status, rateOf(answer).remaining]);
    expect(seen).toEqual([
      [304, 18],
      [400, 17],
      [400, 16],
      [404, 15],
    ]);
  });

  test('what is refused before the rate takes no token and has no rate headers', async () => {
    const reader = await api.source('push', { scope: 'read' });
    const hook = await api.source('webhook');
    const refusals = [
      ...[await push(reader), await read({ ...reader, key: 'wk_live_unknown' })],
      ...[await push(hook), await ask(`${api.url}/v1/samples`, { method: 'POST' })],
      ...[await ask(`${api.url}/nowhere`), await webhook(hook, 'whsec_wrong')],
      ...[await webhook(hook, hook.secret, { 'Content-Type': 'text/plain' })],
      ...[await webhook(hook, hook.secret, { 'Service-Signature': '' })],
    ];
    const statuses = refusals.map((answer) => answer.status);
    expect(statuses).toEqual([403, 401, 403, 405, 404, 404, 415, 400]);
    for (const answer of refusals) expect(rateOf(answer)).toEqual(noRate);
    expect(rateOf(await read(reader)).remaining).toBe(19);
    expect(rateOf(await read(hook)).remaining).toBe(19);
    expect(rateOf(await webhook(hook)).remaining).toBe(19);
  });

  test('a 429 takes no token, however often it comes', async () => {
    const source = await api.source();
    for (let i = 0; i < 20; i++) await read(source);
    for (let i = 0; i < 50; i++) expect((await read(source)).status).toBe(429);
    api.now += 1_000;
    expect((await read(source)).status).toBe(200);
  });

  test('a webhook is 429 before it is a replay, and 404 whatever its rate', async () => {
    const hook = await api.source('webhook');
    for (let i = 0; i < 20; i++) expect((await webhook(hook)).status).toBe(202);
    expect((await webhook(hook)).status).toBe(429);
    expect((await webhook(hook, 'whsec_wrong')).status).toBe(404);
  });

  test('a signature of exactly 300 seconds from now is taken, of 301 not', async () => {
    const hook = await api.source('webhook');
    const began = api.now;
    const at = (offset: number) => {
      const [id, time] = [freshKey(), Math.floor(began / 1_000) + offset];
      const value = `t=${time},v1=${signature(hook.secret, time, id, goodEvent)}`;
      return webhook(hook, hook.secret, { 'Service-Delivery-Id': id, 'Service-Signature': value });
    };
    for (const [offset, status] of [
      [300, 202],
      [-300, 202],
      [301, 400],
      [-301, 400],
    ] as const) {
      expect([offset, (await at(offset)).status]).toEqual([offset, status]);
    }
  });
});
