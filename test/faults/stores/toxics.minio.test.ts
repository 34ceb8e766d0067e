import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Minio, minioOrSkip, startMinio } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { seedOf } from '../../support/seed.ts';
import {
  startToxicProxy,
  type Toxic,
  type ToxicProxy,
  toxiproxyOrSkip,
} from '../../support/toxiproxy.ts';
import { randomOf } from '../load.ts';
import { expectNothingLost } from '../oracle.ts';
import { makePlace } from '../place.ts';
import { startMixedLoad } from './mixed-load.ts';
import { residentBytes } from './resident-bytes.ts';

const mib = 1024 * 1024;

/** Every toxic there is, at a strength that shows within a second. */
const kinds: readonly Omit<Toxic, 'stream'>[] = [
  { type: 'latency', attributes: { latency: 150, jitter: 100 } },
  { type: 'bandwidth', attributes: { rate: 64 } },
  { type: 'slow_close', attributes: { delay: 400 } },
  // Bytes vanish; the connection stays, ends after a while, or is reset.
  { type: 'timeout', attributes: { timeout: 0 } },
  { type: 'timeout', attributes: { timeout: 300 } },
  { type: 'reset_peer', attributes: { timeout: 0 } },
  { type: 'reset_peer', attributes: { timeout: 200 } },
  { type: 'slicer', attributes: { average_size: 256, size_variation: 128, delay: 50 } },
  { type: 'limit_data', attributes: { bytes: 3_000 } },
  { type: 'limit_data', attributes: { bytes: 200_000 } },
];
const streams = ['upstream', 'downstream'] as const;
const alone: readonly Toxic[] = kinds.flatMap((kind) =>
  streams.map((stream) => ({ ...kind, stream })),
);

/** `FAULT_SECONDS` makes the part with pairs longer. */
const pairs = Math.max(6, Math.round(Number(process.env.FAULT_SECONDS ?? 0)));
const eachMs = 500;

const needed = await toxiproxyOrSkip();
const missing = needed.reason === null ? await minioOrSkip() : needed;

describeWith('between weir and its store', missing, () => {
  let minio: Minio;
  beforeAll(async () => {
    minio = await startMinio();
  });
  afterAll(() => minio.stop());

  test('whatever a network does, alone and in pairs, nothing is lost and nothing twice', {
    timeout: 300_000 + pairs * 2_000,
  }, async () => {
    const seed = seedOf('toxics');
    const random = randomOf(seed);
    const proxy = await startToxicProxy(minio.port, seed);
    const place = await makePlace();
    try {
      const through = minio.url('toxics').replace(`:${minio.port}/`, `:${proxy.port}/`);
      const weir = place.weir({ WEIR_ARTIFACTS_URL: through });
      await weir.start();
      const load = startMixedLoad(place, weir.url, random);
      await sleep(1_000);
      const calm = load.waits.length;
      const before = residentBytes(weir);
      let most = before;
      for (const toxics of [...alone.map((one) => [one]), ...drawnPairs(random)]) {
        await under(proxy, toxics);
        most = Math.max(most, residentBytes(weir));
      }
      await proxy.down();
      await sleep(eachMs);
      await proxy.heal();
      const healed = performance.now();
      await load.stop();
      const receiptsMs = performance.now() - healed;
      // A delivery that failed often waits for up to a minute.
      const waiting = async () => (await place.catalog.queue.backlog()).deliveries;
      await expect.poll(waiting, { timeout: 90_000 }).toBe(0);
      const parsedMs = performance.now() - healed;
      // Read past the proxy: what is judged is what lies in the store.
      const orphans = await expectNothingLost(place, weir, load.sent, minio.url('toxics'));

      const { answers, sent } = load;
      const attempts = [...answers.values()].reduce((sum, n) => sum + n, 0);
      expect(answers.get(202)).toBe(sent.length);
      expect(answers.get(503)).toBeGreaterThan(0);
      // An attempt that failed leaves one object at most.
      expect(orphans).toBeLessThanOrEqual(attempts - sent.length);
      expect(calm).toBeGreaterThan(0);
      expect(most - before).toBeLessThan(160 * mib);
      expect(receiptsMs).toBeLessThan(15_000);
      console.log({
        ...{ seed, faults: alone.length + pairs + 1, deliveries: sent.length, orphans },
        ...{ answers: Object.fromEntries(answers), grownMiB: Math.round((most - before) / mib) },
        ...{
          receiptsMs: Math.round(receiptsMs),
          parsedMs: Math.round(parsedMs),
          proxyRestarts: proxy.restarts(),
        },
      });
    } finally {
      await place.remove();
      await proxy.stop();
    }
  });
});

async function under(proxy: ToxicProxy, toxics: readonly Toxic[]): Promise<void> {
  for (const one of toxics) await proxy.add(one);
  await sleep(eachMs);
  await proxy.heal();
}

function drawnPairs(random: (n: number) => number): Toxic[][] {
  return Array.from({ length: pairs }, () => {
    const first = alone[random(alone.length)]!;
    const others = alone.filter((one) => one !== first);
    return [first, others[random(others.length)]!];
  });
}
