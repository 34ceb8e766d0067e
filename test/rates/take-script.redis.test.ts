import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bucket, type RateRule, takeToken, token } from '../../src/domain/rates.ts';
import type { ServiceRates } from '../../src/rates/rates.ts';
import { redisRates } from '../../src/rates/redis.ts';
import { monotonicClock } from '../../src/std/clock.ts';
import { describeWith } from '../support/need.ts';
import { type Redis, redisClient, redisOrSkip, startRedis } from '../support/redis.ts';
import { patient, quiet } from './redis-rates.ts';

/** The script against the domain's function, on a real server and by its own clock. */

const rule = { perMinute: 60, burst: 20 };

describeWith('a bucket in Redis', await redisOrSkip(), () => {
  let redis: Redis;
  let rates: ServiceRates;
  let client: Awaited<ReturnType<typeof redisClient>>;
  let names = 0;

  beforeAll(async () => {
    redis = await startRedis();
    client = await redisClient(redis.url);
    const { url } = redis;
    rates = await redisRates({ url, clock: monotonicClock, log: quiet, waits: patient });
  });
  afterAll(async () => {
    await rates?.close();
    client?.destroy();
    await redis?.stop();
  });

  const key = (name: string) => `weir:rate:{${name}}`;
  const read = async (name: string): Promise<Bucket | undefined> => {
    const kept = await client.get(key(name));
    if (kept === null) return undefined;
    const [level, at] = kept.split(' ').map(Number);
    return { level: level!, at: at! };
  };

  /** The server's clock goes on by so much, as the bucket sees it. */
  const pass = async (name: string, { level, at }: Bucket, ms: number): Promise<Bucket> => {
    await client.set(key(name), `${level} ${at - ms}`);
    return { level, at: at - ms };
  };

  /**
   * Takes once and compares with the domain, at the time by which the server took.
   *
   * @returns the bucket after it; undefined when it was full again before it could be read
   */
  const takeBoth = async (name: string, bucket: Bucket | undefined, of: RateRule) => {
    const verdict = await rates.take(name, of);
    const after = await read(name);
    if (after === undefined) {
      expect(of.perMinute).toBeGreaterThan(120);
      return after;
    }
    // Where they differ: a clock that was put back refills from where it now is.
    const seen = bucket && { ...bucket, at: Math.min(bucket.at, after.at) };
    const expected = takeToken(seen, of, after.at);
    expect(verdict).toEqual(expected.verdict);
    expect(after).toEqual(expected.bucket);
    return after;
  };

  test('whatever the rules and the times: each verdict is that of the domain', async () => {
    const rules = fc.record({
      perMinute: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 1e9 })),
      burst: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1e11 })),
    });
    const waits = fc.oneof(
      { weight: 10, arbitrary: fc.integer({ min: 0, max: 1_500 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 1e10 }) },
      // The server's clock is put back.
      { weight: 1, arbitrary: fc.integer({ min: -1e10, max: -1 }) },
    );
    let [left, usedUp] = [0, 0];
    const sequence = fc.array(waits, { minLength: 10, maxLength: 60 });
    const holds = fc.asyncProperty(rules, sequence, async (of, steps) => {
      names += 1;
      const name = `random-${names}`;
      let bucket: Bucket | undefined;
      for (const wait of steps) {
        const before: Bucket | undefined = bucket && (await pass(name, bucket, wait));
        bucket = await takeBoth(name, before, of);
        if (bucket === undefined) continue;
        if (bucket.level >= token) left += 1;
        else usedUp += 1;
      }
    });
    await fc.assert(holds, { numRuns: 60 });
    // Buckets of both kinds were met: with tokens left, and used up.
    expect(Math.min(left, usedUp)).toBeGreaterThan(100);
  });

  test('another rule for the same bucket is taken as the domain takes it', async () => {
    const first = await takeBoth('changed', undefined, { perMinute: 60, burst: 100 });
    const second = await takeBoth('changed', first, { perMinute: 60, burst: 5 });
    const waited = await pass('changed', second!, 2_000);
    const third = await takeBoth('changed', waited, { perMinute: 90, burst: 50 });
    expect([first, second, third].map((bucket) => Math.floor(bucket!.level / token))).toEqual([
      ...[99, 4, 6],
    ]);
  });

  test('a server clock that steps back gives no token, and the refill goes on', async () => {
    const slow = { perMinute: 1, burst: 20 };
    for (let i = 0; i < 20; i += 1) await rates.take('back', slow);
    // An hour back: what was left is as it was.
    await pass('back', (await read('back'))!, -3_600_000);
    expect((await rates.take('back', slow)).admitted).toBe(false);
    // A minute later by the new clock there is a token, long before the old one is reached.
    await pass('back', (await read('back'))!, 60_000);
    expect((await rates.take('back', slow)).admitted).toBe(true);
    expect((await rates.take('back', slow)).admitted).toBe(false);
  });

  test('hundreds of buckets vanish when they are full again, one in use stays', async () => {
    await client.flushDb();
    const fast = { perMinute: 600, burst: 10 };
    await Promise.all(Array.from({ length: 500 }, (_, i) => rates.take(`once-${i}`, fast)));
    for (let i = 0; i < 20; i += 1) await rates.take('used', rule);
    expect(await client.pTTL(key('used'))).toBeGreaterThan(15_000);
    expect(await client.pTTL(key('used'))).toBeLessThanOrEqual(20_000);
    // Each lacks one token, which takes 100 ms.
    await expect.poll(() => client.dbSize(), { timeout: 10_000 }).toBe(1);
    expect(await client.keys('*')).toEqual([key('used')]);
  });

  test('after a flush of its scripts the server is sent them again, and counts on', async () => {
    for (let i = 0; i < 5; i += 1) await rates.take('flushed', { perMinute: 1, burst: 20 });
    await client.scriptFlush();
    const both = [1, 2].map(() => rates.take('flushed', { perMinute: 1, burst: 20 }));
    expect((await Promise.all(both)).map(({ remaining }) => remaining)).toEqual([14, 13]);
    expect(rates.isLocal()).toBe(false);
  });

  test('what another program wrote under its name is replaced by a full bucket', async () => {
    await client.set(key('text'), 'something else');
    await client.rPush(key('list'), ['1', '2']);
    for (const name of ['text', 'list']) {
      const verdicts = [await rates.take(name, rule), await rates.take(name, rule)];
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([19, 18]);
      expect(Math.floor((await read(name))!.level / token)).toBe(18);
    }
  });
});
