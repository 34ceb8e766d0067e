import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openRates } from '../../src/rates/open.ts';
import type { Rates, ServiceRates } from '../../src/rates/rates.ts';
import { type RedisRatesOptions, redisRates } from '../../src/rates/redis.ts';
import { monotonicClock } from '../../src/std/clock.ts';
import { describeWith } from '../support/need.ts';
import { type Redis, redisClient, redisOrSkip, startRedis } from '../support/redis.ts';
import { freePort } from '../support/server-process.ts';
import { keptLog, patient, quiet } from './redis-rates.ts';
import { startRelay } from './relay.ts';

const clock = monotonicClock;
/** One token a minute: none comes back while a test runs. */
const rule = { perMinute: 1, burst: 20 };

const away = 'rates are counted by this process alone: Redis is away';
const back = 'rates are shared again: Redis is back';

/** Closed after each test. */
const opened: Rates[] = [];
async function open(options: Partial<RedisRatesOptions> & { url: string }): Promise<ServiceRates> {
  const rates = await redisRates({ clock, log: quiet, ...options });
  opened.push(rates);
  return rates;
}

let names = 0;
function freshName(): string {
  names += 1;
  return `name-${names}`;
}

/** @returns how many of so many takes at once were admitted */
async function admittedOf(takes: number, of: readonly Rates[], name: string): Promise<number> {
  const asked = Array.from({ length: takes }, (_, i) => of[i % of.length]!.take(name, rule));
  return (await Promise.all(asked)).filter(({ admitted }) => admitted).length;
}

const patiently = { timeout: 15_000, interval: 10 };
const untilShared = (rates: ServiceRates) =>
  vi.waitFor(() => expect(rates.isLocal()).toBe(false), patiently);

describeWith('rates in Redis', await redisOrSkip(), () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const rates of opened.splice(0)) await rates.close();
  });
  afterAll(() => redis?.stop());

  test('two processes share one bucket to the token, however many ask at once', async () => {
    const { url } = redis;
    const two = [await open({ url, waits: patient }), await open({ url, waits: patient })];
    expect(await admittedOf(400, two, freshName())).toBe(20);
    expect(two.map((rates) => rates.isLocal())).toEqual([false, false]);
  });

  describe('that hangs', () => {
    afterEach(() => redis.resume());

    test('no take waits long or fails: each process counts by the same rule', async () => {
      const log = keptLog();
      const two = [await open({ url: redis.url, log }), await open({ url: redis.url })];
      const name = freshName();
      await two[0]!.take(name, rule);
      await redis.pause();
      const began = performance.now();
      expect(await admittedOf(100, two.slice(0, 1), name)).toBe(20);
      // 300 ms are usual, and the machine may be busy.
      expect(performance.now() - began).toBeLessThan(2_000);
      // Who comes later does not even wait so long.
      for (let i = 0; i < 200; i += 1) await two[0]!.take(name, rule);
      expect(performance.now() - began).toBeLessThan(2_500);
      expect(await admittedOf(100, two.slice(1), name)).toBe(20);
      expect(log.told).toEqual([{ level: 'warn', message: away, err: expect.any(Error) }]);
      redis.resume();
      await Promise.all(two.map(untilShared));
      expect(log.told.slice(1)).toEqual([{ level: 'info', message: back }]);
      // The server counts what it was sent before, once it goes on.
      expect(await admittedOf(20, two, name)).toBe(0);
      expect(await admittedOf(100, two, freshName())).toBe(20);
    });

    test('a close does not wait for it', async () => {
      const rates = await open({ url: redis.url });
      await redis.pause();
      const asked = rates.take(freshName(), rule);
      const began = performance.now();
      await rates.close();
      expect((await asked).admitted).toBe(true);
      expect(performance.now() - began).toBeLessThan(2_000);
    });
  });

  test('a stall of this process itself is not taken for one of Redis', async () => {
    const rates = await open({ url: redis.url });
    const name = freshName();
    for (let stalls = 0; stalls < 2; stalls += 1) {
      const asked = rates.take(name, rule);
      // Before it was sent, and after.
      if (stalls > 0) await new Promise(setImmediate);
      const end = performance.now() + 400;
      while (performance.now() < end);
      expect((await asked).remaining).toBe(19 - stalls);
    }
    expect(rates.isLocal()).toBe(false);
  });

  test('takes under way while it is killed are answered, and it is used again later', async () => {
    const log = keptLog();
    const rates = await open({ url: redis.url, log });
    const asked = Array.from({ length: 2_000 }, () => rates.take(freshName(), rule));
    const killed = redis.kill();
    const verdicts = await Promise.all(asked);
    expect(verdicts.every(({ admitted }) => admitted)).toBe(true);
    await killed;
    await vi.waitFor(() => expect(rates.isLocal()).toBe(true), patiently);
    expect(await admittedOf(100, [rates], 'often')).toBe(20);
    await redis.restart();
    await untilShared(rates);
    expect(await admittedOf(100, [rates], 'often')).toBe(20);
    expect(log.told.map(({ message }) => message)).toEqual([away, back]);
    // What this process counted in the first outage holds in the next.
    await redis.kill();
    await vi.waitFor(() => expect(rates.isLocal()).toBe(true), patiently);
    expect(await admittedOf(100, [rates], 'often')).toBe(0);
    await redis.restart();
    await untilShared(rates);
  });

  test('who starts without it counts alone, and shares as soon as it is there', async () => {
    await redis.kill();
    const log = keptLog();
    const rates = await open({ url: redis.url, log });
    expect(rates.isLocal()).toBe(true);
    expect(await admittedOf(100, [rates], freshName())).toBe(20);
    await redis.restart();
    await untilShared(rates);
    expect(log.told.map(({ message }) => message)).toEqual([away, back]);
  });

  test('a server that is full is an outage too', async () => {
    const log = keptLog();
    const rates = await open({ url: redis.url, log });
    const client = await redisClient(redis.url);
    await client.configSet('maxmemory', '1');
    expect(await admittedOf(100, [rates], freshName())).toBe(20);
    expect(log.told).toEqual([expect.objectContaining({ level: 'warn', message: away })]);
    expect(log.told[0]!.err!.message).toMatch(/OOM/);
    await client.configSet('maxmemory', '0');
    await untilShared(rates);
    client.destroy();
  });

  test('one node of a Redis Cluster, which has half of the buckets, is told of once', async () => {
    const config = join(tmpdir(), `weir-cluster-${randomUUID()}.conf`);
    const node = await startRedis({
      cluster: { config, busPort: await freePort() },
    });
    const client = await redisClient(node.url);
    await client.clusterAddSlotsRange({ start: 0, end: 8_191 });
    await vi.waitFor(async () => expect(await client.clusterInfo()).toMatch(/state:ok/), patiently);
    const log = keptLog();
    const rates = await open({ url: node.url, log });
    for (let i = 0; i < 200; i += 1) {
      expect((await rates.take(freshName(), rule)).remaining).toBe(19);
      if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(log.told).toEqual([expect.objectContaining({ level: 'warn', message: away })]);
    await rates.close();
    client.destroy();
    await node.stop();
    await rm(config, { force: true });
  });

  test('a connection that fell silent is given up for another', async () => {
    const relay = await startRelay(redis.port);
    const url = `redis://127.0.0.1:${relay.port}`;
    const rates = await open({ url, waits: { silent: 500, ping: 100 } });
    const name = freshName();
    await rates.take(name, rule);
    relay.freeze();
    expect((await rates.take(name, rule)).remaining).toBe(19);
    expect(rates.isLocal()).toBe(true);
    await untilShared(rates);
    expect(relay.connections()).toBe(2);
    expect((await rates.take(name, rule)).remaining).toBe(18);
    // A connection on which nothing but pings go stays.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([rates.isLocal(), relay.connections()]).toEqual([false, 2]);
    await rates.close();
    await relay.stop();
  });

  test('a server whose answers all come too late is one outage, not many', async () => {
    const relay = await startRelay(redis.port);
    const log = keptLog();
    const url = `redis://127.0.0.1:${relay.port}`;
    const rates = await open({ url, log, waits: { retry: 20 } });
    relay.delay(500);
    for (const end = performance.now() + 2_000; performance.now() < end; ) {
      await rates.take(freshName(), rule);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(log.told.map(({ message }) => message)).toEqual([away]);
    relay.delay(0);
    await untilShared(rates);
    await rates.close();
    await relay.stop();
  });

  test('user, password and database are those of the URL', async () => {
    const secret = 'p%40ss-wörd';
    const guarded = await startRedis({ password: decodeURIComponent(secret) });
    const at = (password: string) => `redis://default:${password}@127.0.0.1:${guarded.port}/3`;
    const client = await redisClient(at(secret));
    const rates = await open({ url: at(secret) });
    await rates.take('here', rule);
    expect(rates.isLocal()).toBe(false);
    expect(await client.exists('weir:rate:{here}')).toBe(1);
    const log = keptLog();
    const refused = await open({ url: at('wrong-password'), log });
    expect((await refused.take('here', rule)).remaining).toBe(19);
    expect(refused.isLocal()).toBe(true);
    expect(log.told).toHaveLength(1);
    expect(inspect(log.told, { depth: 9, showHidden: true })).not.toMatch(/wrong-password/);
    client.destroy();
    await guarded.stop();
  });
});

test.each([
  'redis://:my-secret@host:port',
  'redis://:my-secret@host/first',
  'redis://:my-secret%@host',
  'redis://:my-secret@',
  'http://:my-secret@host',
])('%s is refused with one line that does not show the password', async (url) => {
  const error = await openRates({ url, clock, log: quiet }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toMatch(/^the URL of Redis must look like redis\[s\]:\/\//);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/my-secret/);
});

test('without a URL rates are in memory, as they were set up to be', async () => {
  const rates = await openRates({ url: undefined, clock, log: quiet });
  expect(await admittedOf(30, [rates], 'name')).toBe(20);
  expect(rates.isLocal()).toBe(false);
  await rates.close();
});

test('a host that nobody listens at does not hold up the start', async () => {
  const log = keptLog();
  const url = `redis://127.0.0.1:${await freePort()}`;
  const rates = await openRates({ url, clock, log });
  expect(rates.isLocal()).toBe(true);
  expect(log.told).toEqual([{ level: 'warn', message: away, err: expect.any(Error) }]);
  await rates.close();
});
