import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, ask } from '../support/ask.ts';
import { accepted, freshKey, type Sender } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { sendWebhook } from '../support/webhook.ts';

/**
 * Nobody learns of another company's sources, deliveries or samples (specification, "Access keys",
 * 2; "Webhook signature"): what is foreign is answered as what does not exist.
 */

/** One source with one delivery, and words that only it knows. */
interface Tenant {
  readonly source: TestSource;
  readonly sender: Sender & { keyId: string };
  /** Its key ended: it is known, but opens nothing. */
  readonly revoked: string;
  readonly artifactId: string;
  readonly idempotencyKey: string;
  readonly value: string;
  readonly etag: string;
  /** A shape version that only it has. */
  readonly shapeVersion: number;
}

const ways = ['push', 'document', 'webhook'] as const;
const timezones = ['Europe/Berlin', 'America/Lima', 'Asia/Tokyo'];

let weir: TestWeir;
/** Three of each of three companies. */
let tenants: Tenant[];
beforeAll(async () => {
  weir = await TestWeir.start({ WEIR_LOG_LEVEL: 'trace' });
  tenants = [];
  for (const [i, timezone] of timezones.entries()) {
    for (const way of ways) tenants.push(await tenant(timezone, way, i + 2));
  }
});
afterAll(() => weir?.stop());

async function tenant(timezone: string, way: (typeof ways)[number], saves: number) {
  const source = await weir.source({ delivery: way, timezone });
  for (let i = 1; i < saves * 2; i++) await source.save({});
  const sender = await source.withKey();
  const { key: revoked, keyId } = await source.withKey();
  await weir.catalog.directory.revokeKey(keyId, Date.now());
  const idempotencyKey = `own-${randomBytes(12).toString('hex')}`;
  const value = BigInt(`0x${randomBytes(12).toString('hex')}`).toString();
  const first = await deliver(source, sender, idempotencyKey, value);
  await sender.settled(first);
  const { artifact_id: artifactId } = accepted(first);
  const etag = String((await sender.get('/v1/samples')).headers.etag);
  return {
    source,
    sender,
    revoked,
    artifactId,
    idempotencyKey,
    value,
    etag,
    shapeVersion: saves * 2,
  };
}

/** The same body for the same value, whatever the source. */
function deliver(source: TestSource, sender: Sender, key: string, value: string) {
  const row = { day: '2026-03-01', amount: value };
  if (source.secret) {
    return sendWebhook(source, { deliveryId: key, body: JSON.stringify(row) }).then((answer) =>
      answer.status === 404 ? push() : answer,
    );
  }
  return push();

  async function push(): Promise<Answer> {
    const answer = await sender.push(row, key);
    return answer.status === 400
      ? sender.document(`day,amount\n${row.day},${value}\n`, key)
      : answer;
  }
}

type Attack = (own: Tenant, foreign: Tenant) => Promise<readonly [Answer, Answer]>;

/** What one company can try with what is another's → its answer, and that for what nobody has. */
const attacks: Record<string, Attack> = {
  'ask for a delivery': async (own, foreign) => [
    await own.sender.get(`/v1/deliveries/${foreign.artifactId}`),
    await own.sender.get(`/v1/deliveries/${randomUUID()}`),
  ],
  'ask for a delivery in capitals': async (own, foreign) => [
    await own.sender.get(`/v1/deliveries/${foreign.artifactId.toUpperCase()}`),
    await own.sender.get(`/v1/deliveries/${randomUUID().toUpperCase()}`),
  ],
  'send to a webhook source with the own secret': async (own, foreign) => [
    await sendWebhook(own.source, { sourceId: foreign.source.sourceId }),
    await sendWebhook(own.source, { sourceId: randomUUID() }),
  ],
  'send to a webhook source under its delivery id': async (own, foreign) => {
    const { idempotencyKey: deliveryId, source } = foreign;
    return [
      await sendWebhook(own.source, { sourceId: source.sourceId, deliveryId }),
      await sendWebhook(own.source, { sourceId: randomUUID(), deliveryId }),
    ];
  },
  'open a webhook address with the own key': async (own, foreign) => {
    const headers = { Authorization: `Bearer ${own.sender.key}`, 'Service-Signature': undefined };
    const send = (sourceId: string) => sendWebhook(own.source, { sourceId, headers });
    return [await send(foreign.source.sourceId), await send(randomUUID())];
  },
  'use a key that was revoked': async (_, foreign) => [
    await read(foreign.revoked),
    await read(`wk_live_${randomBytes(24).toString('base64url')}`),
  ],
  'use half of a key': async (_, foreign) => [
    await read(foreign.sender.key.slice(0, 24)),
    await read(`wk_live_${randomBytes(12).toString('base64url')}`),
  ],
  'name a source or company in the query': async (own, foreign) => {
    const id = `source_id=${foreign.source.sourceId}&source=${foreign.source.sourceId}`;
    return [
      await own.sender.get(`/v1/samples?from=2026-03-01&to=2026-03-02&${id}`),
      await own.sender.get('/v1/samples?from=2026-03-01&to=2026-03-02'),
    ];
  },
  'send the tag of an answer': async (own, foreign) => [
    await own.sender.get('/v1/samples', { 'If-None-Match': foreign.etag }),
    await own.sender.get('/v1/samples', { 'If-None-Match': '"nobody"' }),
  ],
  'name a shape version': async (own, foreign) => [
    await named(own, foreign.shapeVersion),
    await named(own, 99),
  ],
};

const read = (key: string) =>
  ask(`${weir.url}/v1/samples`, { headers: { Authorization: `Bearer ${key}` } });

/** Names a version that the own source lacks: one more than its own, or what is given. */
function named(own: Tenant, version: number): Promise<Answer> {
  const wanted = Math.max(version, own.shapeVersion + 1);
  const headers = { 'X-Service-Shape-Version': String(wanted) };
  const body = 'day,amount\n2026-03-01,1\n';
  if (own.source.secret && own.source === webhookOf(own)) {
    return sendWebhook(own.source, { body, headers: { ...headers, 'Content-Type': 'text/csv' } });
  }
  const payload = { day: '2026-03-01', amount: '1' };
  return own.sender.push(payload, freshKey(), wanted);
}

function webhookOf(own: Tenant): TestSource | undefined {
  const at = tenants.indexOf(own);
  return at % ways.length === 2 ? own.source : undefined;
}

const pair = fc
  .tuple(fc.nat(8), fc.nat(8))
  .filter(([own, foreign]) => own !== foreign)
  .map(([own, foreign]) => ({ own, foreign }));

test('what is foreign is answered as what does not exist, to the byte', async () => {
  const attempt = fc.record({ pair, attack: fc.constantFrom(...Object.keys(attacks)) });
  await fc.assert(
    fc.asyncProperty(attempt, async ({ pair: { own, foreign }, attack }) => {
      const victim = tenants[foreign]!;
      const [answer, nobody] = await attacks[attack]!(tenants[own]!, victim);
      expect([attack, answer.status, answer.text]).toEqual([attack, nobody.status, nobody.text]);
      expect(comparable(answer)).toEqual(comparable(nobody));
      const seen = JSON.stringify(answer.headers) + answer.text;
      for (const word of wordsOf(victim)) expect(seen).not.toContain(word);
    }),
    { numRuns: 250 },
  );
});

test("another's idempotency key and another's bytes are stored anew", async () => {
  await fc.assert(
    fc.asyncProperty(pair, async ({ own, foreign }) => {
      const [thief, victim] = [tenants[own]!, tenants[foreign]!];
      const key = `${victim.idempotencyKey}-${own}`;
      const theirs = await deliver(victim.source, victim.sender, key, `1${own}${foreign}`);
      const ours = await deliver(thief.source, thief.sender, key, `1${own}${foreign}`);
      const [one, two] = [accepted(theirs).artifact_id, accepted(ours).artifact_id];
      expect(one).not.toBe(two);
      const { sourceId } = (await weir.catalog.deliveries.byArtifact(two))!;
      expect(sourceId).toBe(thief.source.sourceId);
    }),
    { numRuns: 40 },
  );
});

test('a read tells the samples of its own source only', async () => {
  for (const { sender, source } of tenants) {
    const { source_id, samples } = await sender.samples();
    expect(source_id).toBe(source.sourceId);
    const own = new Set(await source.deliveries());
    for (const { artifact_id } of samples) expect(own).toContain(artifact_id);
    const text = JSON.stringify(samples);
    for (const other of tenants) {
      if (other.source !== source) expect(text).not.toContain(other.value);
    }
  }
});

test('neither log nor metrics tell a key, a secret, a value or an idempotency key', async () => {
  const { ops } = weir.running.place;
  const pages = await Promise.all(
    ['/livez', '/readyz', '/metrics'].map((path) => ask(`http://127.0.0.1:${ops}${path}`)),
  );
  const told = [weir.running.log, ...pages.map((page) => page.text)].join('\n');
  expect(told).toContain('weir serves');
  for (const one of tenants) {
    const secrets = [one.sender.key, one.revoked, one.source.secret, one.value, one.idempotencyKey];
    for (const word of secrets) if (word) expect(told).not.toContain(word);
  }
});

/** The headers of an answer but for those that change with each. */
function comparable({ headers }: Answer): object {
  const changing = /^(date|ratelimit-.*)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.test(name)));
}

function wordsOf(victim: Tenant): string[] {
  return [
    ...[victim.source.sourceId, victim.artifactId, victim.value, victim.idempotencyKey],
    ...[victim.sender.key, victim.sender.keyId],
  ];
}
