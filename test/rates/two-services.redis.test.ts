import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sqliteUrl } from '../../src/catalog/open.ts';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';
import { metricsOf } from '../support/metrics-of.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { type Redis, redisClient, redisOrSkip, startRedis } from '../support/redis.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';

/** Two services on one catalog, whose rates are in one Redis: over TLS, with a password. */

const run = promisify(execFile);

const needed = await need('Redis and a certificate', async () => {
  const redis = await redisOrSkip();
  if (redis.reason !== null) throw new Error(redis.reason);
  const home = await mkdtemp(join(tmpdir(), 'weir-redis-'));
  const tls = { cert: join(home, 'public.crt'), key: join(home, 'private.key') };
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', '/CN=weir', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', tls.key, '-out', tls.cert];
  await run('openssl', ['req', '-x509', '-days', '2', ...curve, ...files, ...name]);
  return { home, tls };
});

describeWith('two services that share their rates', needed, ({ home, tls }) => {
  let redis: Redis;
  let first: TestWeir;
  let second: RunningWeir;
  let both: readonly RunningWeir[];
  let otherHome: string;

  beforeAll(async () => {
    redis = await startRedis({ password: 'not-for-logs', tls });
    const settings = {
      ...{ WEIR_REDIS_URL: `${redis.url}/2`, WEIR_SECRET_KEY: '5a'.repeat(32) },
      ...{ WEIR_RATE_PER_MINUTE: '1', WEIR_RATE_BURST: '20', NODE_EXTRA_CA_CERTS: tls.cert },
    };
    first = await TestWeir.start(settings);
    const { dataDir } = first.running.place;
    otherHome = await mkdtemp(join(tmpdir(), 'weir-other-'));
    const [api, app, ops] = (await freePorts(3)) as [number, number, number];
    const sharedStores = {
      WEIR_CATALOG_URL: sqliteUrl(join(dataDir, 'catalog.db')),
      WEIR_ARTIFACTS_URL: pathToFileURL(join(dataDir, 'artifacts')).href,
    };
    second = new RunningWeir({
      ...{ dataDir: otherHome, api, app, ops, settings: { ...settings, ...sharedStores } },
    });
    await second.start();
    both = [first.running, second];
  });
  afterAll(async () => {
    redis?.resume();
    await second?.end();
    await first?.stop();
    await redis?.stop();
    for (const dir of [otherHome, home]) await rm(dir, { recursive: true, force: true });
  });

  /** @returns how many reads of each status, of so many at once that go to these in turn */
  const read = async (reads: number, of: readonly RunningWeir[], source: TestSource) => {
    const headers = { Authorization: `Bearer ${source.sender.key}` };
    const asked = Array.from({ length: reads }, async (_, i) => {
      const answer = await fetch(`${of[i % of.length]!.url}/v1/samples`, { headers });
      await answer.arrayBuffer();
      return answer.status;
    });
    const statuses = await Promise.all(asked);
    return Object.fromEntries(
      [...new Set(statuses)].map((status) => [
        ...[status, statuses.filter((other) => other === status).length],
      ]),
    );
  };

  test('a key is admitted to the token, whichever of them is asked', async () => {
    expect(await read(80, both, await first.source())).toEqual({ 200: 20, 429: 60 });
    const client = await redisClient(`${redis.url}/2`);
    expect(await client.keys('*')).toEqual([expect.stringMatching(/^weir:rate:\{key:/)]);
    client.destroy();
  });

  test('while Redis hangs each admits a burst, nothing fails, and operators see it', async () => {
    const localNow = async () =>
      Promise.all(both.map(async (weir) => (await metricsOf(weir)).get('weir_rates_local')));
    expect(await localNow()).toEqual([0, 0]);
    await redis.pause();
    const source = await first.source();
    for (const weir of both) expect(await read(40, [weir], source)).toEqual({ 200: 20, 429: 20 });
    expect(await localNow()).toEqual([1, 1]);
    redis.resume();
    await vi.waitFor(async () => expect(await localNow()).toEqual([0, 0]), { timeout: 15_000 });
    expect(await read(80, both, await first.source())).toEqual({ 200: 20, 429: 60 });
    for (const { log } of both) {
      expect(log.match(/rates are counted by this process alone/g)).toHaveLength(1);
      expect(log).not.toMatch(/not-for-logs/);
    }
  });
});
