import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { connect } from '../../src/samples/client.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import { enginePid } from '../faults/place.ts';
import { type Answer, ask, type Question } from '../support/ask.ts';
import { metricsText } from '../support/metrics-of.ts';
import { type Minio, minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { accepted, freshKey } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { sendWebhook, webhookHead } from '../support/webhook.ts';
import { weirCommand } from '../support/weir-command.ts';

/**
 * Secrets are where SECURITY.md says, and nowhere else: not in the log at its loudest, in answers,
 * metrics, the catalog, ClickHouse or anything else in the data directory. Every way in is gone,
 * and every way to be refused.
 */

const fields = [
  { name: 'day', role: 'period' },
  { name: 'amount', role: 'value', metric: 'amount' },
  { name: 'email', personal: true, required: false },
] as const;

let minio: Minio;
let weir: TestWeir;
let push: TestSource;
let documents: TestSource;
let hook: TestSource;
const secretKey = randomBytes(32).toString('hex');
const unknownKey = `wk_live_${randomBytes(24).toString('base64url')}`;
const guessedSecret = `whsec_${randomBytes(32).toString('base64url')}`;
/** In a field that the shape marks personal. */
const personal = `personal-${randomBytes(8).toString('hex')}@example.com`;
const answers: Answer[] = [];
let canaries: Record<string, string>;

describeWith('with every secret known to the test', await minioOrSkip(), () => {
  beforeAll(async () => {
    minio = await startMinio();
    const settings = { WEIR_SECRET_KEY: secretKey, WEIR_LOG_LEVEL: 'trace' };
    weir = await TestWeir.start({ ...settings, WEIR_ARTIFACTS_URL: minio.url('canaries') });
    push = await weir.source({ fields });
    documents = await weir.source({ delivery: 'document', fields });
    hook = await weir.source({ delivery: 'webhook', fields });
    const { password } = openEngineAddress(weir.running.place.dataDir);
    canaries = {
      ...{ 'the secret key': secretKey, 'a personal value': personal },
      ...{ 'an unknown key': unknownKey, 'a guessed secret': guessedSecret },
      'the S3 secret': new URL(minio.url('x')).password,
      'the password of ClickHouse': password,
      'a signing secret': hook.secret,
    };
    for (const [name, source] of Object.entries({ push, documents, hook })) {
      canaries[`a key of ${name}`] = source.sender.key;
    }
    await goEveryWay();
    await loseEveryStore();
  }, 120_000);
  afterAll(async () => {
    await weir?.stop();
    await minio?.stop();
  });

  test('the log, at its loudest, holds none', () => {
    for (const told of ['a request failed', 'engine ended']) {
      expect(weir.running.log).toContain(told);
    }
    expectNone(weir.running.log);
  });

  test('no answer holds one', () => {
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 202, 400, 401, 403, 404, 405, 413, 415, 503]);
    for (const { headers, text } of answers) expectNone(JSON.stringify(headers) + text);
  });

  test('the metrics hold none', async () => expectNone(await metricsText(weir.running)));

  test('nothing in the data directory holds one, but for the address of the engine', async () => {
    const { dataDir } = weir.running.place;
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
    let [files, catalogBytes] = [0, 0];
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name);
      if (entry.name === 'engine.json') continue;
      const bytes = await readFile(path).catch(absent);
      if (bytes === null) continue;
      files += 1;
      if (entry.name.startsWith('catalog.db')) catalogBytes += bytes.length;
      expectNone(bytes.toString('latin1'), path);
    }
    expect(files).toBeGreaterThan(10);
    expect(catalogBytes).toBeGreaterThan(10_000);
    const { mode } = await stat(join(dataDir, 'engine.json'));
    expect(mode & 0o077).toBe(0);
  });

  test('no command line of a process of it holds one', async () => {
    for (const pid of [weir.running.pid!, enginePid(weir.running)]) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1');
      expect(line).toContain('src/');
      expectNone(line);
    }
  });

  test('no row of ClickHouse holds one, and no log of it', async () => {
    const address = openEngineAddress(weir.running.place.dataDir);
    const client = connect(address, address.database);
    try {
      const listed = await client.query({
        query: `SELECT database || '.' || name AS name FROM system.tables
          WHERE database = currentDatabase() OR database = 'system' AND name LIKE '%\\_log'`,
        format: 'JSONEachRow',
      });
      let bytes = 0;
      for (const { name } of await listed.json<{ name: string }>()) {
        const rows = await client.query({ query: `SELECT * FROM ${name}`, format: 'JSONEachRow' });
        const text = await rows.text();
        bytes += text.length;
        expectNone(text, name);
      }
      expect(bytes).toBeGreaterThan(500);
    } finally {
      await client.close();
    }
  });

  test('what a source had stored is the only place of a personal value', async () => {
    const [newest] = await documents.deliveries();
    const { place } = (await weir.catalog.deliveries.byArtifact(newest!))!;
    const parts: Buffer[] = [];
    for await (const part of await weir.artifacts.read(place)) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString()).toContain(personal);
  });
});

describe('a start that fails says why without the secret', () => {
  const secret = `s3cret-${randomBytes(8).toString('hex')}`;
  const starts: Record<string, Record<string, string>> = {
    'an artifact store that is no URL': { WEIR_ARTIFACTS_URL: `s3+http://key:${secret}@:x/b` },
    'a bucket that is no name': { WEIR_ARTIFACTS_URL: `s3+http://key:${secret}@127.0.0.1:1/B!` },
    'a ClickHouse that is no URL': { WEIR_CLICKHOUSE_URL: `http://user:${secret}@:x/db` },
    'a secret key that is too short': { WEIR_SECRET_KEY: secret },
  };
  test.concurrent.each(Object.entries(starts))('%s', async (_, settings) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'weir-start-'));
    const env = { PATH: process.env.PATH, WEIR_DATA_DIR: dataDir, ...settings };
    const { code, stdout, stderr } = await weirCommand(env, 'serve');
    await rm(dataDir, { recursive: true });
    expect([1, 2]).toContain(code);
    expect(stderr).toMatch(/^weir: /);
    expect(stdout + stderr).not.toContain(secret);
  });
});

function expectNone(text: string, where = ''): void {
  const found = Object.entries(canaries).filter(([, canary]) => text.includes(canary));
  expect(
    found.map(([name]) => name),
    where,
  ).toEqual([]);
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function note(asking: Promise<Answer>): Promise<Answer> {
  const answer = await asking;
  answers.push(answer);
  return answer;
}

const at = (path: string, question: Question = {}) => note(ask(`${weir.url}${path}`, question));
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const json = { 'Content-Type': 'application/json' };

async function goEveryWay(): Promise<void> {
  const { sender } = push;
  const good = { day: '2026-03-01', amount: '1', email: personal };
  const receipts = [
    await note(sender.push(good)),
    await note(sender.push({ ...good, day: personal, undeclared: personal })),
    await note(
      documents.sender.document(`day,amount,email\nx,y,${personal}\n2026-03-02,1,${personal}\n`),
    ),
  ];
  for (const receipt of receipts) accepted(receipt);
  const event = JSON.stringify([good, { ...good, amount: personal }]);
  receipts.push(await note(sendWebhook(hook, { body: event })));
  receipts.push(await note(sendWebhook(hook, { body: `{"email":"${personal}",` })));
  const csv = { 'Content-Type': 'text/csv' };
  receipts.push(await note(sendWebhook(hook, { body: `day,amount\n${personal}`, headers: csv })));
  const readers = [push, push, documents, hook, hook, hook].map(({ sender: one }) => one);
  for (const [i, receipt] of receipts.entries()) await readers[i]!.settled(receipt);
  for (const [i, receipt] of receipts.entries()) {
    const { artifact_id } = accepted(receipt);
    await note(readers[i]!.get(`/v1/deliveries/${artifact_id}`));
  }
  for (const source of [push, documents, hook]) await note(source.sender.get('/v1/samples'));
  await beRefused();
}

async function beRefused(): Promise<void> {
  const { key } = push.sender;
  const reader = await push.withKey({ scope: 'read' });
  const expired = await push.withKey({ expiresMs: -1 });
  Object.assign(canaries, { 'a reading key': reader.key, 'an expired key': expired.key });
  const site = { Origin: `http://127.0.0.1:${weir.running.place.app}` };
  const wrong: NonNullable<Question['headers']>[] = [
    ...[bearer(unknownKey), bearer(expired.key), bearer(`${key}x`), { Authorization: key }],
    ...[{ Authorization: `Basic ${key}` }, { ...bearer(key), ...site }, {}],
    { Authorization: [`Bearer ${key}`, `Bearer ${unknownKey}`] },
  ];
  for (const headers of wrong) {
    await at('/v1/samples', { headers });
    await at('/v1/ingest', { method: 'POST', headers: { ...headers, ...json }, body: '{}' });
  }
  await at(`/v1/samples?access_key=${key}&from=${personal}`, { headers: bearer(key) });
  await at(`/v1/deliveries/${key}`, { headers: bearer(key) });
  await at(`/v1/${key}`, { headers: bearer(key) });
  await at('/v1/ingest', { method: 'PUT', headers: bearer(key) });
  await note(reader.push({ day: '2026-03-01', amount: '1' }));
  for (const body of [
    ...['', '{', `{"idempotency_key":"${personal}"`, `{"idempotency_key":1,"email":"${personal}"}`],
    JSON.stringify({ idempotency_key: key.repeat(20), shape_version: 1, payload: {} }),
    JSON.stringify({ idempotency_key: freshKey(), shape_version: personal, payload: {} }),
    JSON.stringify({ idempotency_key: freshKey(), shape_version: 1, payload: { email: personal } }),
    personal.padEnd(limits.deliveryBytesMax + 1),
  ]) {
    await note(push.sender.pushText(body));
  }
  const { secret } = hook;
  for (const headers of [
    ...[{ 'Service-Signature': `t=1,v1=${secret}` }, { 'Service-Signature': secret }],
    ...[{ 'Service-Signature': undefined }, { 'Service-Delivery-Id': `${secret} ${personal}` }],
    ...[{ 'Content-Type': `text/${personal}` }, { 'X-Service-Shape-Version': secret }],
    bearer(key),
  ]) {
    await note(sendWebhook(hook, { headers }));
  }
  await note(sendWebhook(hook, { secret: guessedSecret }));
  await at(`/v1/webhooks/${secret}`, { method: 'POST', headers: webhookHead(hook), body: '{}' });
}

/** What a failing store makes the service say. */
async function loseEveryStore(): Promise<void> {
  await minio.kill();
  const body = { day: '2026-04-01', amount: '1', email: personal };
  await note(push.sender.push(body));
  const document = `day,amount,email\n${`2026-04-01,1,${personal}\n`.repeat(3_000)}`;
  await note(documents.sender.document(document));
  await minio.restart();
  const engine = enginePid(weir.running);
  process.kill(engine, 'SIGKILL');
  await note(push.sender.get('/v1/samples?from=2025-01-01'));
  const again = () => expect(enginePid(weir.running)).not.toBe(engine);
  await vi.waitFor(again, { timeout: 20_000 });
}
