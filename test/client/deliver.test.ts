import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/client/body.ts';
import type { Delivered, Progress, SenderParts } from '../../src/client/deliver.ts';
import type { DeliveryFailed } from '../../src/client/failure.ts';
import { push, pushDocument, sendWebhook } from '../../src/client/sender.ts';
import { readSignatureHeader, signDelivery } from '../../src/domain/signature.ts';
import {
  type Act,
  accepted,
  answer,
  FakeService,
  receipt,
  refusal,
  reset,
  VirtualTime,
} from './fake-service.ts';

const service = new FakeService();
let time = new VirtualTime();
let progress: Progress[] = [];
beforeAll(() => service.start());
afterAll(() => service.stop());
beforeEach(() => {
  time = new VirtualTime();
  progress = [];
});

const dayMs = 86_400_000;

function parts(more: SenderParts = {}): SenderParts {
  const { clock, sleep } = time;
  return { clock, sleep, random: () => 1, tell: (so) => progress.push(so), ...more };
}

function send(more?: SenderParts): Promise<Delivered> {
  const to = { url: `${service.url}/v1/webhooks/x`, signingSecret: 'whsec_x' };
  const body = bytesBody('{"a":1}');
  const what = { deliveryId: 'evt_1', mediaType: 'application/json', body } as const;
  return sendWebhook(to, what, parts(more));
}

/** What a delivery that gets no receipt fails with. */
async function failureOf(sending: Promise<Delivered>): Promise<DeliveryFailed> {
  const outcome = await sending.catch((error: unknown) => error);
  expect(outcome).toMatchObject({ name: 'DeliveryFailed' });
  return outcome as DeliveryFailed;
}

describe('2xx: taken, not sent again', () => {
  test.each([200, 201, 202])('%i with a receipt is done after one attempt', async (status) => {
    service.will(answer(status, receipt));
    expect(await send()).toEqual({ receipt, attempts: 1, replayed: false, bodyDiffers: false });
    expect(service.received).toHaveLength(1);
  });

  test('the headers of a replay are told', async () => {
    const headers = { 'Idempotency-Replayed': 'true', 'Idempotency-Body-Differs': 'true' };
    service.will(answer(202, receipt, headers));
    expect(await send()).toMatchObject({ replayed: true, bodyDiffers: true });
  });

  test.each([{}, [], { artifact_id: 'x' }])(
    '202 with %j has no receipt and is final',
    async (body) => {
      service.will(answer(202, body));
      expect(await failureOf(send())).toMatchObject({
        code: 'no_receipt',
        status: 202,
        attempts: 1,
      });
      expect(service.received).toHaveLength(1);
    },
  );
});

describe('final answers are not retried', () => {
  test.each([
    [400, 'invalid_argument'],
    [401, 'unauthenticated'],
    [403, 'insufficient_scope'],
    [404, 'not_found'],
    [413, 'too_large'],
    [415, 'unsupported_media_type'],
    [405, 'method_not_allowed'],
    [409, 'conflict'],
  ])('%i', async (status, code) => {
    service.will(refusal(status, code, { 'Retry-After': '1' }));
    expect(await failureOf(send())).toMatchObject({ code, status, attempts: 1, message: 'No.' });
    expect(service.received).toHaveLength(1);
    expect(time.sleeps).toEqual([]);
  });

  test('400 names its field', async () => {
    service.will(answer(400, { code: 'invalid_argument', message: 'No.', field: 'payload.mrr' }));
    expect(await failureOf(send())).toMatchObject({ field: 'payload.mrr' });
  });

  test('a redirect is not followed: the key and the signature go nowhere else', async () => {
    service.will(answer(307, {}, { Location: '/elsewhere' }));
    expect(await failureOf(send())).toMatchObject({ code: 'http_307', status: 307 });
    expect(service.received.map(({ path }) => path)).toEqual(['/v1/webhooks/x']);
  });
});

describe('429', () => {
  test('waits the seconds of Retry-After, then 202', async () => {
    service.will(refusal(429, 'rate_limited', { 'Retry-After': '7' }), accepted);
    expect(await send()).toMatchObject({ attempts: 2 });
    expect(time.sleeps).toEqual([7_000]);
  });

  test('waits until the date of Retry-After', async () => {
    const date = new Date(time.now + 90_000).toUTCString();
    service.will(refusal(429, 'rate_limited', { 'Retry-After': date }), accepted);
    await send();
    expect(time.sleeps).toEqual([90_000]);
  });

  test('waits a second after Retry-After: 0', async () => {
    service.will(refusal(429, 'rate_limited', { 'Retry-After': '0' }), accepted);
    await send();
    expect(time.sleeps).toEqual([1_000]);
  });

  test('without Retry-After backs off', async () => {
    service.will(refusal(429, 'rate_limited'), refusal(429, 'rate_limited'), accepted);
    await send();
    expect(time.sleeps).toEqual([30_000, 60_000]);
  });

  test('does not lengthen the back-off of a failure that follows', async () => {
    const limited = refusal(429, 'rate_limited', { 'Retry-After': '2' });
    service.will(limited, limited, refusal(500, 'internal'), accepted);
    await send();
    expect(time.sleeps).toEqual([2_000, 2_000, 30_000]);
  });

  test('that asks for more than 3 days gives up at once', async () => {
    service.will(refusal(429, 'rate_limited', { 'Retry-After': '259201' }));
    expect(await failureOf(send())).toMatchObject({ code: 'rate_limited', attempts: 1 });
    expect(time.sleeps).toEqual([]);
  });
});

describe('5xx', () => {
  test.each([500, 502, 503, 504, 599])('%i is sent again after 30 s', async (status) => {
    service.will(refusal(status, 'internal'), accepted);
    expect(await send()).toMatchObject({ attempts: 2 });
    expect(time.sleeps).toEqual([30_000]);
  });

  test('Retry-After is a minimum: a longer one counts, a shorter one does not', async () => {
    const away = (seconds: string) => refusal(503, 'internal', { 'Retry-After': seconds });
    service.will(away('45'), away('5'), accepted);
    await send();
    expect(time.sleeps).toEqual([45_000, 60_000]);
  });

  test('that are no JSON are told by their status', async () => {
    const page: Act = (response) => response.writeHead(502).end('<html>');
    service.will(page, accepted);
    await send();
    expect(progress.find(({ kind }) => kind === 'waiting')).toEqual({
      ...{ kind: 'waiting', attempt: 1, waitMs: 30_000, why: '502 http_502' },
    });
  });

  test.each([
    ['the longest waits', 1, 78],
    ['the shortest waits', 0, 150],
  ])('for three days, with %s: gives up after %3$i attempts', async (_, luck, attempts) => {
    service.will(refusal(503, 'internal'));
    const startedAt = time.now;
    const failure = await failureOf(send({ random: () => luck }));
    expect(failure).toMatchObject({ code: 'internal', status: 503, attempts });
    expect(failure.message).toContain('3 days');
    expect(service.received).toHaveLength(attempts);
    expect(time.sleeps).toHaveLength(attempts - 1);

    const ceilings = [30, 60, 120, 240, 480, 960, 1_920];
    const expected = time.sleeps.map((_, i) => (ceilings[i] ?? 3_600) * 1_000 * (1 + luck) * 0.5);
    expect(time.sleeps).toEqual(expected);
    // The last attempt was within the three days; one more would not have been.
    expect(time.now - startedAt).toBeLessThanOrEqual(3 * dayMs);
    expect(time.now - startedAt + (3_600_000 * (1 + luck)) / 2).toBeGreaterThan(3 * dayMs);
  });
});

describe('an answer that does not come', () => {
  test('connection reset, then 202: the same id, signed anew', async () => {
    service.will(reset, accepted);
    const startedAt = time.now;
    expect(await send()).toMatchObject({ attempts: 2 });
    expect(time.sleeps).toEqual([30_000]);
    const heads = service.received.map(({ headers }) => headers);
    expect(heads.map((head) => head['service-delivery-id'])).toEqual(['evt_1', 'evt_1']);
    const signatures = heads.map((head) => String(head['service-signature']));
    const body = Buffer.from('{"a":1}');
    expect(signatures).toEqual([
      signDelivery('whsec_x', 'evt_1', body, startedAt),
      signDelivery('whsec_x', 'evt_1', body, startedAt + 30_000),
    ]);
    expect(readSignatureHeader(signatures[1]!)).toMatchObject({ time: startedAt / 1_000 + 30 });
  });

  test('connection reset, then 202: the same idempotency key and the same bytes', async () => {
    const to = { baseUrl: `${service.url}/`, accessKey: 'wk_live_x' };
    const payload = { month: '2026-01', mrr: '10.50' };
    service.will(reset, accepted);
    await push(to, { idempotencyKey: 'one', shapeVersion: 2, payload }, parts());
    expect(service.received).toHaveLength(2);
    for (const { path, headers, body } of service.received) {
      expect(path).toBe('/v1/ingest');
      expect(headers).toMatchObject({ authorization: 'Bearer wk_live_x' });
      expect(headers['content-type']).toBe('application/json');
      expect(JSON.parse(body.toString())).toEqual({
        ...{ idempotency_key: 'one', shape_version: 2, payload },
      });
    }

    service.will(reset, accepted);
    const document = { idempotencyKey: 'two', shapeVersion: 3, body: bytesBody('a,b\n') };
    await pushDocument(to, { ...document, encoding: 'gzip' }, parts());
    expect(service.received).toHaveLength(2);
    for (const { headers, body } of service.received) {
      expect(headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'idempotency-key': 'two',
        'x-service-shape-version': '3',
        'content-encoding': 'gzip',
        'content-length': '4',
      });
      expect(body.toString()).toBe('a,b\n');
    }
  });

  test('an answer that is cut off is none', async () => {
    const cut: Act = (response) => {
      response.writeHead(202, { 'Content-Length': '500' });
      response.write('{"artifact_id":', () => response.socket!.destroy());
    };
    service.will(cut, accepted);
    expect(await send()).toMatchObject({ attempts: 2, receipt });
    expect(time.sleeps).toEqual([30_000]);
  });

  test('silence ends the attempt', async () => {
    service.will(() => {}, accepted);
    expect(await send({ silenceMs: 200 })).toMatchObject({ attempts: 2 });
    expect(time.sleeps).toEqual([30_000]);
    const waiting = progress.find(({ kind }) => kind === 'waiting');
    expect(waiting).toMatchObject({ why: 'no answer: nothing came for 0.2 seconds' });
  });

  test('a service that is not there yet is waited for', async () => {
    const late = new FakeService();
    await late.start();
    const { port } = new URL(late.url);
    await late.stop();
    const to = { baseUrl: `http://127.0.0.1:${port}`, accessKey: 'k' };
    const what = { idempotencyKey: 'k', shapeVersion: 1, payload: {} };
    const sleep = async (ms: number) => {
      await time.sleep(ms);
      if (time.sleeps.length === 3) await late.start(Number(port));
    };
    try {
      expect(await push(to, what, parts({ sleep }))).toMatchObject({ attempts: 4 });
      expect(time.sleeps).toEqual([30_000, 60_000, 120_000]);
    } finally {
      await late.stop();
    }
  });
});

test('a caller can end the waiting', async () => {
  service.will(refusal(503, 'internal'));
  const ending = new AbortController();
  const sending = send({
    signal: ending.signal,
    sleep: async (_, signal) => {
      ending.abort(new Error('enough'));
      signal?.throwIfAborted();
    },
  });
  await expect(sending).rejects.toThrow('enough');
  expect(service.received).toHaveLength(1);
});

describe('what cannot be sent is refused before anything is', () => {
  const to = { baseUrl: 'http://127.0.0.1:1', accessKey: 'wk_live_x' };
  const body = bytesBody('x');
  const hook = { url: 'http://127.0.0.1:1/v1/webhooks/x', signingSecret: 'whsec_x' };
  const event = { deliveryId: 'evt_1', mediaType: 'text/csv', body } as const;

  test.each<[string, () => Promise<Delivered>, string]>([
    [
      'a key with a space',
      () => pushDocument(to, { idempotencyKey: 'a b', body }),
      'Idempotency-Key',
    ],
    ['an empty key', () => pushDocument(to, { idempotencyKey: '', body }), 'Idempotency-Key'],
    [
      'an access key with a line break',
      () => pushDocument({ ...to, accessKey: 'a\nb' }, { idempotencyKey: 'a', body }),
      'Authorization',
    ],
    [
      'a delivery id with a dot',
      () => sendWebhook(hook, { ...event, deliveryId: 'a.b' }),
      'Service-Delivery-Id',
    ],
    ['an address of no kind', () => sendWebhook({ ...hook, url: 'ftp://x' }, event), 'url'],
  ])('%s', async (_, sending, field) => {
    expect(await failureOf(sending())).toMatchObject({
      ...{ code: 'invalid_argument', field, attempts: 0 },
    });
  });

  test('a body over 8 MiB', () => {
    expect(() => bytesBody(Buffer.alloc(8_388_609))).toThrow('8388609 bytes are more than');
    expect(bytesBody(Buffer.alloc(8_388_608)).bytes).toBe(8_388_608);
  });
});
