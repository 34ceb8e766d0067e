import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { type Answer, jsonOf } from '../support/ask.ts';
import { head, RawSocket } from '../support/raw-socket.ts';
import { accepted, freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import { goodEvent, sendWebhook, signature, webhookHead } from '../support/webhook.ts';
import type { TheWeir } from './suite.ts';

const max = limits.deliveryBytesMax;
const csv = { 'Content-Type': 'text/csv' };
const dayMs = 86_400_000;
const event = (amount: number) => `{"day":"2026-03-01","amount":"${amount}"}`;

/** Webhooks that are taken (specification, "deliver one webhook"; DECISIONS 5 and 6). */
export function webhookCases(weir: TheWeir): void {
  const source = () => weir().source({ delivery: 'webhook' });

  test('a signed webhook is answered 202 with a receipt, and never sandbox', async () => {
    const to = await source();
    const answer = await sendWebhook(to);
    const receipt = { artifact_id: expect.any(String), shape_version: 1, status: 'queued' };
    expect([answer.status, jsonOf(answer)]).toEqual([202, { ...receipt, sandbox: false }]);
    const { artifact_id } = accepted(answer);
    const delivery = await weir().catalog.deliveries.byArtifact(artifact_id);
    expect(delivery).toMatchObject({ delivery: 'webhook', mediaType: 'application/json' });
    expect(await stored(to, artifact_id)).toBe(goodEvent);
  });

  const ids = ['evt_1', 'A-b:c_9', 'x'.repeat(200), '0', '-', ':'];
  test.each(ids)('the delivery id %s is taken', async (deliveryId) => {
    accepted(await sendWebhook(await source(), { deliveryId }));
  });

  test('other schemes are passed over, order is free, one v1 that holds is enough', async () => {
    const to = await source();
    const time = Math.floor(Date.now() / 1_000);
    const wrong = '00'.repeat(32);
    const forms = [
      (good: string) => `v1=${good},t=${time}`,
      (good: string) => `t=${time},v1=${wrong},v1=${good}`,
      (good: string) => `t=${time},v1=${good},v1=${wrong}`,
      (good: string) => `v0=zzz,t=${time},v2=,v1=${good}`,
    ];
    for (const form of forms) {
      const deliveryId = freshKey();
      const good = signature(to.secret, time, deliveryId, goodEvent);
      const headers = { 'Service-Signature': form(good) };
      accepted(await sendWebhook(to, { deliveryId, headers }));
    }
  });

  test('a time with leading noughts is signed as it stands', async () => {
    const time = `0${Math.floor(Date.now() / 1_000)}`;
    accepted(await sendWebhook(await source(), { time }));
  });

  const bodies: Record<string, readonly [string, string, number]> = {
    'one JSON object': [event(1), 'application/json', 1],
    'an array of objects': [
      `[${event(1)},{"day":"2026-03-02","amount":2.50}]`,
      'application/json',
      2,
    ],
    'JSON with a charset': [event(3), 'application/json; charset=utf-8', 1],
    'CSV with a header row': ['day,amount\n2026-03-01,1\n2026-03-02,2\n', 'text/csv', 2],
    'CSV with a charset': ['day,amount\n2026-03-01,1\n', 'Text/CSV;charset=utf-8', 1],
    'an empty array': ['[]', 'application/json', 0],
    'a header row alone': ['day,amount\n', 'text/csv', 0],
  };
  test.each(Object.entries(bodies))('%s is parsed to samples', async (_, [body, type, count]) => {
    const to = await source();
    const answer = await sendWebhook(to, { body, headers: { 'Content-Type': type } });
    const view = await to.sender.settled(answer);
    expect([view.status, view.counts.records, view.counts.samples]).toEqual([
      'parsed',
      count,
      count,
    ]);
    expect((await to.sender.samples('from=2026-03-01&to=2026-04-01')).samples).toHaveLength(count);
  });

  test('a number in JSON keeps its text', async () => {
    const to = await source();
    const body = '{"day":"2026-03-01","amount":10.50}';
    await to.sender.settled(await sendWebhook(to, { body }));
    const { samples } = await to.sender.samples('from=2026-03-01&to=2026-04-01');
    expect(samples.map((sample) => sample.value)).toEqual(['10.50']);
  });

  const odd: Record<string, readonly [string | Uint8Array, Record<string, string>]> = {
    'no body at all': ['', {}],
    'an empty CSV': ['', csv],
    'a JSON text': ['"hello"', {}],
    'JSON cut short': ['{"day":', {}],
    'what is no JSON': ['day=1', {}],
    'bytes that are no UTF-8': [Buffer.from([0xff, 0xfe, 0x00]), {}],
    'CSV without a required field': ['day\n2026-03-01\n', csv],
  };
  for (const chunked of [false, true]) {
    test.each(Object.entries(odd))(
      `%s is taken, kept as it is and rejected in parsing (chunked: ${chunked})`,
      async (_, [body, headers]) => {
        const to = await source();
        const answer = await sendWebhook(to, { body, headers, chunked });
        expect((await to.sender.settled(answer)).status).toBe('rejected');
        const { artifact_id } = accepted(answer);
        expect(await stored(to, artifact_id)).toBe(Buffer.from(body as string).toString('latin1'));
      },
    );
  }

  test('the same id gives the first receipt, byte for byte, and stores nothing', async () => {
    const to = await source();
    const deliveryId = freshKey();
    const first = await sendWebhook(to, { deliveryId, time: Math.floor(Date.now() / 1_000) - 200 });
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    await countsNothing(async () => {
      expectReplay(await sendWebhook(to, { deliveryId }), first, false);
    });
  });

  test('another body under the same id gives the first receipt, and is told', async () => {
    const to = await source();
    const deliveryId = freshKey();
    const first = await sendWebhook(to, { deliveryId });
    await countsNothing(async () => {
      expectReplay(await sendWebhook(to, { deliveryId, body: event(2) }), first, true);
    });
    const { artifact_id } = accepted(first);
    expect(await weir().catalog.deliveries.conflicts(artifact_id)).toBe(1);
  });

  test('the same body under another id is one delivery with two names', async () => {
    const to = await source();
    const [one, two] = [freshKey(), freshKey()];
    const first = await sendWebhook(to, { deliveryId: one });
    await countsNothing(async () => {
      expectReplay(await sendWebhook(to, { deliveryId: two }), first, false);
    });
    const { artifact_id } = accepted(first);
    expect(await weir().catalog.deliveries.idempotencyKeys(artifact_id)).toEqual([one, two]);
    expectReplay(await sendWebhook(to, { deliveryId: two, body: event(2) }), first, true);
  });

  test('sources have ids and bodies of their own', async () => {
    const deliveryId = freshKey();
    const answers = [
      await sendWebhook(await source(), { deliveryId }),
      await sendWebhook(await source(), { deliveryId }),
    ];
    expect(new Set(answers.map((answer) => accepted(answer).artifact_id)).size).toBe(2);
  });

  test('the shape version is the current one, or the one named', async () => {
    const to = await source();
    const named = (version: string) => ({ 'X-Service-Shape-Version': version });
    expect(accepted(await sendWebhook(to, { body: event(1) })).shape_version).toBe(1);
    await to.save({});
    expect(accepted(await sendWebhook(to, { body: event(2) })).shape_version).toBe(2);
    const old = await sendWebhook(to, { body: event(3), headers: named('1') });
    expect(accepted(old).shape_version).toBe(1);
  });

  test.each(['3', '0', 'one', '', '+1', '1.0', '99999999999'])(
    'the shape version %j is 400, but only for a new delivery',
    async (version) => {
      const to = await source();
      const headers = { 'X-Service-Shape-Version': version };
      const deliveryId = freshKey();
      const first = await sendWebhook(to, { deliveryId });
      await countsNothing(async () => {
        const refused = await sendWebhook(to, { body: event(2), headers });
        const message = expect.stringMatching(/\.$/);
        const field = 'X-Service-Shape-Version';
        expect(refused.status).toBe(400);
        expect(jsonOf(refused)).toEqual({ code: 'invalid_argument', field, message });
        expect(refused.headers['ratelimit-limit']).toBeDefined();
        expectReplay(await sendWebhook(to, { deliveryId, headers }), first, false);
      });
    },
  );

  test('after a rotation both secrets hold, and each delivery knows which one it was', async () => {
    const to = await source();
    const { directory, deliveries } = weir().catalog;
    const next = weir().newSecret();
    const now = Date.now();
    await directory.rotateSecret(to.sourceId, next.secret, now + dayMs, now);
    const [current, old] = await directory.secrets(to.sourceId);
    for (const [secret, secretId, amount] of [
      [to.secret, old!.secretId, 1],
      [next.text, current!.secretId, 2],
    ] as const) {
      const answer = await sendWebhook(to, { secret, body: event(amount) });
      const delivery = await deliveries.byArtifact(accepted(answer).artifact_id);
      expect(delivery!.secretId).toBe(secretId);
    }
    const both = [to.secret, next.text];
    const deliveryId = freshKey();
    const time = Math.floor(Date.now() / 1_000);
    const values = both.map((one) => `v1=${signature(one, time, deliveryId, event(3))}`);
    const headers = { 'Service-Signature': `t=${time},${values.join(',')}` };
    accepted(await sendWebhook(to, { deliveryId, body: event(3), headers }));
  });

  test('a second rotation ends the older secret at once', async () => {
    const to = await source();
    const { directory } = weir().catalog;
    const [second, third] = [weir().newSecret(), weir().newSecret()];
    for (const { secret } of [second, third]) {
      await directory.rotateSecret(to.sourceId, secret, Date.now() + dayMs, Date.now());
    }
    expect((await sendWebhook(to, { body: event(1) })).status).toBe(404);
    accepted(await sendWebhook(to, { secret: second.text, body: event(2) }));
    accepted(await sendWebhook(to, { secret: third.text, body: event(3) }));
  });

  test('the end of an old secret is exclusive, and a redelivery needs one that works', async () => {
    const to = await source();
    const deliveryId = freshKey();
    const first = await sendWebhook(to, { deliveryId });
    const next = weir().newSecret();
    const { directory } = weir().catalog;
    await directory.rotateSecret(to.sourceId, next.secret, Date.now(), Date.now());
    expect((await sendWebhook(to, { deliveryId })).status).toBe(404);
    expectReplay(await sendWebhook(to, { deliveryId, secret: next.text }), first, false);
  });

  test('a webhook of exactly 8 MiB is taken, whole and in chunks', async () => {
    const to = await source();
    for (const chunked of [false, true]) {
      const start = `day,amount,note${chunked ? ' ' : ''}\n2026-03-01,1,`;
      const body = Buffer.from(start + 'x'.repeat(max - start.length));
      const answer = await sendWebhook(to, { body, headers: csv, chunked });
      const { artifact_id } = accepted(answer);
      const delivery = await weir().catalog.deliveries.byArtifact(artifact_id);
      expect(delivery).toMatchObject({
        bytes: max,
        sha256: createHash('sha256').update(body).digest('hex'),
      });
    }
  });

  test.each([1, 7, 100, 4_096, 65_537])(
    'a signature holds over chunks of %i bytes',
    async (size) => {
      const to = await source();
      const rows = Array.from({ length: size === 1 ? 20 : 9_000 }, (_, i) => `2026-03-01,${i}`);
      const body = Buffer.from(`day,amount\n${rows.join('\n')}\n`);
      const own = webhookHead(to, { body, headers: csv }) as Record<string, string>;
      const socket = await RawSocket.open(weir().port);
      const line = `POST /v1/webhooks/${to.sourceId}`;
      socket.write(head(line, { ...own, 'Transfer-Encoding': 'chunked' }));
      const parts: Buffer[] = [];
      for (let at = 0; at < body.length; at += size) {
        const part = body.subarray(at, at + size);
        parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
      }
      const all = Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
      // Cut where no chunk ends.
      for (let at = 0; at < all.length; at += 50_021) {
        socket.write(all.subarray(at, at + 50_021));
        await socket.flushed();
      }
      const answer = await socket.answer();
      expect(answer.status).toBe(202);
      const { artifact_id } = JSON.parse(answer.body) as { artifact_id: string };
      expect(await stored(to, artifact_id)).toBe(body.toString('latin1'));
      socket.destroy();
    },
  );

  const races: Record<string, (to: TestSource, i: number) => Promise<Answer>> = {
    '100 racing equal webhooks': (to) => sendWebhook(to, { deliveryId: to.sourceId }),
    '100 racing webhooks with one body under 100 ids': (to) => sendWebhook(to),
    '100 racing webhooks with 100 bodies under one id': (to, i) =>
      sendWebhook(to, { deliveryId: to.sourceId, body: event(i) }),
  };
  test.each(Object.entries(races))('%s give one artifact and equal receipts', async (_, send) => {
    const to = await source();
    const before = await weir().storedObjects();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => send(to, i)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((one) => !one.headers['idempotency-replayed'])).toHaveLength(1);
    expect(await to.deliveries()).toEqual([accepted(answers[0]!).artifact_id]);
    expect(await weir().storedObjects()).toHaveLength(before.length + 1);
  });

  async function stored(to: TestSource, artifactId: string): Promise<string> {
    const delivery = await to.weir.catalog.deliveries.byArtifact(artifactId);
    const parts: Buffer[] = [];
    for await (const part of await to.weir.artifacts.read(delivery!.place)) parts.push(part);
    return Buffer.concat(parts).toString('latin1');
  }

  async function countsNothing(work: () => Promise<void>): Promise<void> {
    const before = await weir().storedObjects();
    await work();
    expect(await weir().storedObjects()).toEqual(before);
  }
}

function expectReplay(again: Answer, first: Answer, bodyDiffers: boolean): void {
  expect([again.status, again.text]).toEqual([202, first.text]);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.headers['idempotency-body-differs']).toBe(bodyDiffers ? 'true' : undefined);
}
