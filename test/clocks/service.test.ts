import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import { signDelivery } from '../../src/domain/signature.ts';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { type FaultPlace, makePlace } from '../faults/place.ts';
import { dayMs, hourMs, minuteMs, TestClock } from './clock.ts';

/** A real service whose clock is set forward and back while it runs. */

const in2038 = Date.parse('2038-02-01T00:00:00Z');
/** Where the clock is set to, from the real time. */
const shifts = {
  'a quarter of an hour ahead': 15 * minuteMs,
  'a quarter of an hour behind': -15 * minuteMs,
  'in 2038': in2038 - Date.now(),
  'right again': 0,
};
const burst = 20;

let clock: TestClock;
let place: FaultPlace;
let weir: RunningWeir;
let webhook: { readonly sourceId: string; secret: string };

beforeAll(async () => {
  clock = await TestClock.make();
  place = await makePlace();
  const rate = { WEIR_RATE_PER_MINUTE: '60', WEIR_RATE_BURST: String(burst) };
  weir = place.weir({ ...clock.settings, ...rate });
  await weir.start();
  webhook = await makeWebhook();
});
afterAll(async () => {
  await place?.remove();
  await clock?.remove();
});

async function makeWebhook(): Promise<typeof webhook> {
  const { directory } = place.catalog;
  const source = (await directory.source(place.push.sourceId))!;
  const shape = (await place.catalog.lookup.shape(source.sourceId, 1))!;
  const sourceId = randomUUID();
  const about = { name: 'hook', delivery: 'push', format: 'csv', savedBy: 'test' } as const;
  const { companyId } = source;
  await directory.createSource({ sourceId, companyId, fields: shape.fields, ...about }, 1);
  // The command seals the secret with the key of the data directory.
  const saved = await weir.cli<{ signing_secret: string }>(
    ...['source', 'save', sourceId, '--delivery', 'webhook'],
  );
  return { sourceId, secret: saved.signing_secret };
}

/** A key of the push source that nobody else uses: its bucket is full. */
async function newKey(expiresAt = in2038 + 400 * dayMs): Promise<{ keyId: string; key: string }> {
  const key = formatKey('live', randomBytes(keyRandomBytes));
  const hash = createHash('sha256').update(key).digest();
  const keyId = randomUUID();
  const { sourceId } = place.push;
  const about = { keyId, sourceId, hash, scope: 'read_write' as const, sandbox: false };
  await place.catalog.directory.createKey({ ...about, expiresAt }, Date.now() - hourMs);
  return { keyId, key };
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

async function read(key: string): Promise<Response> {
  return fetch(`${weir.url}/v1/samples?from=2026-01-01&to=2026-02-01`, { headers: bearer(key) });
}

async function push(key: string, name: string, value: string): Promise<string> {
  const payload = { day: '2026-01-05', revenue: value };
  const answer = await fetch(`${weir.url}/v1/ingest`, {
    method: 'POST',
    headers: { ...bearer(key), 'Content-Type': 'application/json' },
    body: JSON.stringify({ idempotency_key: name, shape_version: 1, payload }),
  });
  expect(answer.status).toBe(202);
  return ((await answer.json()) as { artifact_id: string }).artifact_id;
}

async function untilParsed(artifactId: string, withinMs = 40_000): Promise<void> {
  for (const end = performance.now() + withinMs; ; await sleep(20)) {
    const delivery = await place.catalog.deliveries.byArtifact(artifactId);
    if (delivery?.status === 'parsed') return;
    if (performance.now() > end) throw new Error(`it is ${delivery?.status}`);
  }
}

async function hook(signedAt: number, secret = webhook.secret): Promise<number> {
  const id = randomUUID();
  const body = Buffer.from(JSON.stringify({ day: '2026-01-09', revenue: '1', id }));
  const answer = await fetch(`${weir.url}/v1/webhooks/${webhook.sourceId}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Service-Delivery-Id': id,
      'Service-Signature': signDelivery(secret, id, body, signedAt),
    },
    body,
  });
  await answer.arrayBuffer();
  return answer.status;
}

describe('a service whose clock is set while it runs', { timeout: 120_000 }, () => {
  test('accepts in order, and shows what was accepted last, whatever time it has', async () => {
    const { key } = await newKey();
    const ids: string[] = [];
    for (const [n, shiftMs] of [...Object.values(shifts), -15 * minuteMs].entries()) {
      await clock.set(shiftMs);
      const id = await push(key, `order ${n}`, `${n}.5`);
      ids.push(id);
      await untilParsed(id);
      // Answers that are kept are those of this moment, too.
      for (let i = 0; i < 2; i++) {
        const { samples } = (await (await read(key)).json()) as { samples: object[] };
        expect(samples).toMatchObject([{ value: `${n}.5`, artifact_id: id }]);
      }
    }
    expect(new Set(ids).size).toBe(ids.length);
    const stored = await Promise.all(ids.map((id) => place.catalog.deliveries.byArtifact(id)));
    const sequences = stored.map((one) => one!.sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    const received = stored.map((one) => one!.receivedAt);
    expect(received).not.toEqual([...received].sort((a, b) => a - b));
  });

  test('gives no token for a clock that is set, and none less', async () => {
    const { key } = await newKey();
    await clock.set(0);
    const began = performance.now();
    let admitted = 0;
    const ask = async () => {
      const { status } = await read(key);
      if (status === 200) admitted += 1;
      return status;
    };
    for (let n = 0; n < burst + 5; n++) await ask();
    for (const shiftMs of Object.values(shifts)) {
      await clock.set(shiftMs);
      for (let n = 0; n < 5; n++) await ask();
    }
    await clock.set(-15 * minuteMs);
    const refilled = Math.floor((performance.now() - began) / 1_000);
    expect(admitted).toBeGreaterThanOrEqual(burst);
    expect(admitted).toBeLessThanOrEqual(burst + refilled + 1);
    await sleep(1_100);
    expect(await ask()).toBe(200);
  });

  test('takes signatures of 300 seconds either way of its own clock', async () => {
    for (const shiftMs of Object.values(shifts)) {
      await clock.set(shiftMs);
      const statuses = [];
      for (const off of [-303, -297, 0, 297, 303]) {
        statuses.push(await hook(clock.now() + off * 1_000));
      }
      expect(statuses).toEqual([400, 202, 202, 202, 400]);
    }
  });

  test('ends keys at their time, and keeps revoked ones so when it is set back', async () => {
    await clock.set(0);
    const ends = clock.now() + 10 * minuteMs;
    const [ending, revoked] = [await newKey(ends), await newKey()];
    const statuses = async () => [
      (await read(ending.key)).status,
      (await read(revoked.key)).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    await place.catalog.directory.revokeKey(revoked.keyId, clock.now());
    expect(await statuses()).toEqual([200, 401]);
    await clock.set(15 * minuteMs);
    expect(await statuses()).toEqual([401, 401]);
    await clock.set(-15 * minuteMs);
    expect(await statuses()).toEqual([200, 401]);
  });

  test('ends an old signing secret 24 hours after the rotation', async () => {
    await clock.set(0);
    const old = webhook.secret;
    const rotatedAt = clock.now();
    const next = await weir.cli<{ signing_secret: string }>('secret', 'rotate', webhook.sourceId);
    webhook.secret = next.signing_secret;
    const both = async () => [await hook(clock.now(), old), await hook(clock.now())];
    expect(await both()).toEqual([202, 202]);
    await clock.setTo(rotatedAt + 24 * hourMs - minuteMs);
    expect(await both()).toEqual([202, 202]);
    await clock.setTo(rotatedAt + 24 * hourMs + minuteMs);
    expect(await both()).toEqual([404, 202]);
  });

  test('cuts no upload off because its clock was set forward', async () => {
    await clock.set(0);
    const { accessKey } = place.document;
    const body = Buffer.from(`day,page,visits\n2026-01-01,/${'x'.repeat(200)},7\n`);
    const sending = request(`${weir.url}/v1/ingest`, {
      method: 'POST',
      headers: {
        ...bearer(accessKey),
        'Content-Type': 'application/octet-stream',
        'Content-Length': body.length,
        'Idempotency-Key': 'slow',
      },
    });
    const answering = once(sending, 'response');
    answering.catch(() => {}); // Told below.
    sending.write(body.subarray(0, 30));
    await sleep(200);
    await clock.set(15 * minuteMs);
    // The watch looks every second.
    await sleep(2_500);
    sending.end(body.subarray(30));
    const [answer] = await answering;
    expect(answer.statusCode).toBe(202);
    answer.resume();
  });
});

test('what a service in 2038 was parsing when it died is parsed by one whose clock is right', {
  timeout: 120_000,
}, async () => {
  const { queue } = place.catalog;
  await expect.poll(async () => (await queue.backlog()).deliveries, { timeout: 40_000 }).toBe(0);
  await weir.end('SIGKILL');
  await clock.setTo(in2038);
  const { key } = await newKey();
  const dying = place.weir({ ...clock.settings, WEIR_CRASH_AT: 'claimed' });
  await dying.start();
  const sending = push(key, 'left', '77.5').catch(() => null);
  await dying.died();
  await sending;
  await clock.set(0);
  weir = place.weir(clock.settings);
  await weir.start();
  const artifactId = await push(key, 'left', '77.5');
  await untilParsed(artifactId);
  const delivery = await place.catalog.deliveries.byArtifact(artifactId);
  expect(delivery!.receivedAt).toBeGreaterThan(in2038 - dayMs);
});
