import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { type Answer, jsonOf } from '../support/ask.ts';
import { head, RawSocket } from '../support/raw-socket.ts';
import { accepted, freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import {
  goodEvent,
  sendWebhook,
  signature,
  type Webhook,
  webhookHead,
} from '../support/webhook.ts';
import type { TheWeir } from './suite.ts';

const max = limits.deliveryBytesMax;
const hex = 'ab'.repeat(32);
const nowSeconds = () => Math.floor(Date.now() / 1_000);

/** What is wrong with a webhook, and the `field` of its 400. */
const malformed: Record<string, readonly [Webhook, string]> = {
  'an empty signature': [signed(''), 'Service-Signature'],
  'no time': [signed(`v1=${hex}`), 'Service-Signature'],
  'two times': [signed(`t=1,t=1,v1=${hex}`), 'Service-Signature'],
  'a time that is no number': [signed(`t=now,v1=${hex}`), 'Service-Signature'],
  'a negative time': [signed(`t=-1,v1=${hex}`), 'Service-Signature'],
  'a time with a fraction': [signed(`t=1.5,v1=${hex}`), 'Service-Signature'],
  'a time in milliseconds': [{ time: Date.now() }, 'Service-Signature'],
  'no v1': [signed('t=1'), 'Service-Signature'],
  'another scheme only': [signed(`t=1,v0=${hex}`), 'Service-Signature'],
  'capital hex': [signed(`t=1,v1=${hex.toUpperCase()}`), 'Service-Signature'],
  'a signature too short': [signed(`t=1,v1=${hex.slice(2)}`), 'Service-Signature'],
  'a signature too long': [signed(`t=1,v1=${hex}ab`), 'Service-Signature'],
  'a second v1 that is none': [signed(`t=1,v1=${hex},v1=`), 'Service-Signature'],
  'white space in the signature': [signed(`t=1, v1=${hex}`), 'Service-Signature'],
  'a part without a name': [signed(`t=1,=x,v1=${hex}`), 'Service-Signature'],
  'an empty part': [signed(`t=1,v1=${hex},`), 'Service-Signature'],
  'two signature headers': [
    { headers: { 'Service-Signature': [`t=1,v1=${hex}`, `t=1,v1=${hex}`] } },
    'Service-Signature',
  ],
  'no delivery id': [{ headers: { 'Service-Delivery-Id': undefined } }, 'Service-Delivery-Id'],
  'an empty delivery id': [{ deliveryId: '' }, 'Service-Delivery-Id'],
  'a delivery id of 201 characters': [{ deliveryId: 'x'.repeat(201) }, 'Service-Delivery-Id'],
  'a delivery id with a dot': [{ deliveryId: 'a.b' }, 'Service-Delivery-Id'],
  'a delivery id with a space': [{ deliveryId: 'a b' }, 'Service-Delivery-Id'],
  'a delivery id with a slash': [{ deliveryId: 'a/b' }, 'Service-Delivery-Id'],
  'a delivery id beyond ASCII': [
    { deliveryId: 'x', headers: { 'Service-Delivery-Id': 'cl\xe9s' } },
    'Service-Delivery-Id',
  ],
  'two delivery ids': [{ headers: { 'Service-Delivery-Id': ['a', 'a'] } }, 'Service-Delivery-Id'],
  'two media types': [{ headers: { 'Content-Type': ['text/csv', 'text/csv'] } }, 'Content-Type'],
  'a content coding': [{ headers: { 'Content-Encoding': 'gzip' } }, 'Content-Encoding'],
};

/** Refusals of webhooks (specification, "deliver one webhook"; DECISIONS 6). */
export function webhookRefusalCases(weir: TheWeir): void {
  test.each(Object.entries(malformed))('a webhook with %s is 400', async (_, [webhook, field]) => {
    await refuses(webhook, { status: 400, code: 'invalid_argument', field });
  });

  test('a webhook without a signature header is 401, without a challenge', async () => {
    const headers = { 'Service-Signature': undefined };
    const answer = await refuses({ headers }, { status: 401, code: 'unauthenticated' });
    expect(answer.headers['www-authenticate']).toBeUndefined();
  });

  test('an access key does not open the address of a webhook', async () => {
    const source = await webhookSource();
    const headers = {
      'Service-Signature': undefined,
      Authorization: `Bearer ${source.sender.key}`,
    };
    expect((await sendWebhook(source, { headers })).status).toBe(401);
  });

  test.each([-300, -299, 0, 299])('a signature of %i seconds from now is taken', async (off) => {
    accepted(await sendWebhook(await webhookSource(), { time: nowSeconds() + off }));
  });

  test.each([-301, -302, 302, 86_400, -86_400])(
    'a signature of %i seconds from now is 400',
    async (off) => {
      const time = nowSeconds() + off;
      const field = 'Service-Signature';
      await refuses({ time }, { status: 400, code: 'invalid_argument', field });
    },
  );

  const otherTypes = [
    'text/plain',
    'application/octet-stream',
    'application/jsonl',
    'text/csvx',
    '',
  ];
  test.each([...otherTypes, undefined])('the media type %s is 415', async (type) => {
    const webhook = { headers: { 'Content-Type': type } };
    await refuses(webhook, { status: 415, code: 'unsupported_media_type' });
  });

  test('the media type is judged by its header alone, whatever the body is', async () => {
    const webhook = { body: goodEvent, headers: { 'Content-Type': 'text/xml' } };
    await refuses(webhook, { status: 415, code: 'unsupported_media_type' });
  });

  test.each([false, true])('one byte over 8 MiB is 413 (chunked: %s)', async (chunked) => {
    const webhook = { body: Buffer.alloc(max + 1, 'x'), chunked };
    const code = 'too_large';
    const answer = await refuses(webhook, { status: 413, code, field: 'body' });
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  test('a declared length over the limit is answered before the body is sent', async () => {
    const source = await webhookSource();
    const own = { ...webhookHead(source), 'Content-Length': String(max + 1) };
    const socket = await RawSocket.open(weir().port);
    socket.write(head(`POST /v1/webhooks/${source.sourceId}`, own as Record<string, string>));
    expect((await socket.answer()).status).toBe(413);
    socket.destroy();
  });

  const huge = { 'Content-Length': String(max + 1) };
  const old = nowSeconds() - 10_000;
  const order: Record<string, readonly [Webhook, number, string | undefined]> = {
    '401 comes before a malformed delivery id': [
      { deliveryId: '', headers: { 'Service-Signature': undefined } },
      ...([401, undefined] as const),
    ],
    'a malformed signature comes before a malformed delivery id': [
      { deliveryId: '', headers: { 'Service-Signature': 'x' } },
      ...([400, 'Service-Signature'] as const),
    ],
    'a malformed delivery id comes before the time': [
      { deliveryId: '', time: old },
      ...([400, 'Service-Delivery-Id'] as const),
    ],
    'the time comes before 415': [
      { time: old, headers: { 'Content-Type': 'text/plain' } },
      ...([400, 'Service-Signature'] as const),
    ],
    '415 comes before 413': [
      { headers: { 'Content-Type': 'text/plain', ...huge } },
      ...([415, undefined] as const),
    ],
    '413 comes before 404': [
      { sourceId: randomUUID(), headers: huge },
      ...([413, 'body'] as const),
    ],
  };
  test.each(Object.entries(order))('%s', async (_, [webhook, status, field]) => {
    const source = await webhookSource();
    const headers = webhookHead(source, webhook) as Record<string, string>;
    const socket = await RawSocket.open(weir().port);
    const path = `/v1/webhooks/${webhook.sourceId ?? source.sourceId}`;
    socket.write(head(`POST ${path}`, { 'Content-Length': '0', ...headers }));
    const answer = await socket.answer();
    expect([answer.status, JSON.parse(answer.body).field]).toEqual([status, field]);
    socket.destroy();
  });

  test('404 comes before the shape version', async () => {
    const headers = { 'X-Service-Shape-Version': 'one' };
    await refuses({ secret: 'whsec_wrong', headers }, { status: 404, code: 'not_found' });
  });

  test('other methods are 405 with Allow, signed or not', async () => {
    const source = await webhookSource();
    for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
      const socket = await RawSocket.open(weir().port);
      const path = `/v1/webhooks/${source.sourceId}`;
      socket.write(head(`${method} ${path}`, webhookHead(source) as Record<string, string>));
      await expect.poll(() => socket.received).toMatch(/^HTTP\/1.1 405 [\s\S]*\r\nAllow: POST\r\n/);
      socket.destroy();
    }
  });

  test('the 404 is the same byte for byte, whatever its cause', async () => {
    const source = await webhookSource();
    const push = await weir().source();
    const ended = await endedSecret();
    const moved = await noLongerWebhook();
    const causes: Record<string, string> = {
      'no such source': await notFound(source, { sourceId: randomUUID() }),
      'no uuid': await notFound(source, { sourceId: 'billing' }),
      'no uuid, percent-encoded': await notFound(source, { sourceId: '%00%2e%2e' }),
      'a very long id': await notFound(source, { sourceId: 'a'.repeat(3_000) }),
      'a push source': await notFound(push, {}),
      'a source that was a webhook source': await notFound(moved.source, moved),
      'a wrong secret': await notFound(source, { secret: `${source.secret}x` }),
      "another source's secret": await notFound(source, { secret: ended.source.secret }),
      'an empty secret': await notFound(source, { secret: '' }),
      'an ended secret': await notFound(ended.source, ended),
      'another delivery id signed': await notFound(source, {
        deliveryId: 'other',
        headers: { 'Service-Delivery-Id': 'this' },
      }),
      'another body signed': await notFound(source, {
        headers: signedFor(source.secret, `${goodEvent} `),
      }),
      'another time signed': await notFound(source, {
        headers: signedFor(source.secret, goodEvent, nowSeconds() - 1),
      }),
    };
    const [first] = Object.values(causes);
    expect(first).toContain(
      '{"code":"not_found","message":"No webhook source takes this delivery."}',
    );
    for (const [cause, bytes] of Object.entries(causes))
      expect([cause, bytes]).toEqual([cause, first]);
    expect(await source.deliveries()).toEqual([]);
    expect(await push.deliveries()).toEqual([]);
  });

  test('nothing of an unsigned body reaches a store, large or small', async () => {
    const source = await webhookSource();
    const before = await weir().storedObjects();
    for (const body of ['', goodEvent, Buffer.alloc(max, 'x')]) {
      for (const chunked of [false, true]) {
        const answer = await sendWebhook(source, { body, chunked, secret: 'whsec_guessed' });
        expect(answer.status).toBe(404);
      }
    }
    const { socket } = await half(source);
    expect(await weir().storedObjects()).toEqual(before);
    socket.destroy();
    expect(await source.deliveries()).toEqual([]);
    const [secret] = await weir().catalog.directory.secrets(source.sourceId);
    expect(secret!.lastUsedAt).toBeNull();
  });

  function webhookSource(): Promise<TestSource> {
    return weir().source({ delivery: 'webhook' });
  }

  /** Half a body, well signed. */
  async function half(source: TestSource): Promise<{ socket: RawSocket }> {
    const body = Buffer.alloc(1_000_000, 'x');
    const own = webhookHead(source, { body }) as Record<string, string>;
    const socket = await RawSocket.open(weir().port);
    const line = `POST /v1/webhooks/${source.sourceId}`;
    socket.write(head(line, { ...own, 'Content-Length': String(body.length) }));
    socket.write(body.subarray(0, 500_000));
    await socket.flushed();
    return { socket };
  }

  async function endedSecret() {
    const source = await webhookSource();
    const { directory } = weir().catalog;
    const now = Date.now();
    await directory.rotateSecret(source.sourceId, weir().newSecret().secret, now - 1, now - 1);
    return { source, secret: source.secret };
  }

  async function noLongerWebhook() {
    const source = await webhookSource();
    await source.save({ delivery: 'push' });
    return { source, secret: source.secret };
  }

  /** @returns the whole answer as it came, but for its date */
  async function notFound(source: TestSource, webhook: Webhook): Promise<string> {
    const headers = webhookHead(source, webhook) as Record<string, string>;
    const socket = await RawSocket.open(weir().port);
    const line = `POST /v1/webhooks/${webhook.sourceId ?? source.sourceId}`;
    const length = { 'Content-Length': String(goodEvent.length) };
    socket.write(head(line, { ...headers, ...length }) + goodEvent);
    await expect.poll(() => socket.received).toMatch(/\}$/);
    const { received } = socket;
    socket.destroy();
    expect(received).toMatch(/^HTTP\/1.1 404 /);
    return received.replace(/^Date: .*\r\n/m, '');
  }

  async function refuses(
    webhook: Webhook,
    expected: { status: number; code: string; field?: string },
  ): Promise<Answer> {
    const source = await webhookSource();
    const before = await weir().storedObjects();
    const answer = await sendWebhook(source, webhook);
    const { status, ...body } = expected;
    const message = expect.stringMatching(/^[A-Z].*\.$/);
    expect([answer.status, jsonOf(answer)]).toEqual([status, { ...body, message }]);
    expect(answer.headers['content-type']).toBe('application/json');
    for (const name of Object.keys(answer.headers)) expect(name).not.toMatch(/^ratelimit/);
    expect(await weir().storedObjects()).toEqual(before);
    expect(await source.deliveries()).toEqual([]);
    return answer;
  }
}

function signed(header: string): Webhook {
  return { headers: { 'Service-Signature': header } };
}

function signedFor(secret: string, body: string, signedTime = nowSeconds()) {
  const deliveryId = freshKey();
  const value = signature(secret, signedTime, deliveryId, body);
  return {
    'Service-Delivery-Id': deliveryId,
    'Service-Signature': `t=${nowSeconds()},v1=${value}`,
  };
}
