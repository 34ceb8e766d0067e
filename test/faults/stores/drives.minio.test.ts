import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreAway } from '../../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../../src/artifacts/open.ts';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { failure, readAll } from '../../artifacts/bodies.ts';
import { minioOrSkip } from '../../support/minio.ts';
import { type MinioDrives, startMinioDrives } from '../../support/minio-drives.ts';
import { describeWith } from '../../support/need.ts';
import { randomOf } from '../load.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, pushOf, type Sent, sendOnce, sendUntilKept } from '../sender.ts';
import { largeDocument } from './bodies.ts';
import { startMixedLoad } from './mixed-load.ts';

const timeout = 120_000;
const bucket = 'drives';

/**
 * MinIO of this size takes a body when three drives have their shares of it, and reads it from any
 * two. A drive that comes back lacks what was stored without it, until it is healed.
 */
describeWith('a set of four drives', await minioOrSkip(), () => {
  let minio: MinioDrives;
  let place: FaultPlace;
  let weir: RunningWeir;
  const sent: Sent[] = [];
  beforeAll(async () => {
    minio = await startMinioDrives();
    place = await makePlace();
    weir = place.weir({ WEIR_ARTIFACTS_URL: minio.url(bucket) });
    await weir.start();
  });
  afterAll(async () => {
    await place.remove();
    await minio.stop();
  });

  test('takes every delivery while one is lost under load, and loses none', {
    timeout,
  }, async () => {
    const load = startMixedLoad(place, weir.url, randomOf(4));
    await load.receipts(20);
    await minio.lose(0);
    const lostAt = performance.now();
    await load.receipts(40);
    // MinIO notices within a second or so, and goes on without the drive.
    await sleep(Math.max(0, lostAt + 2_500 - performance.now()));
    await load.stop();
    sent.push(...load.sent);
    expect([...load.answers.keys()]).toEqual([202]);
    expect(await expectNothingLost(place, weir, sent, minio.url(bucket))).toBe(0);
  });

  test('may lose two others once the first is back and healed', { timeout }, async () => {
    const whole = await minio.objectsOn(3, bucket);
    await minio.giveBack(0);
    expect((await minio.objectsOn(0, bucket)).length).toBeLessThan(whole.length);
    await minio.heal(bucket);
    await expect.poll(() => minio.objectsOn(0, bucket), { timeout: 30_000 }).toEqual(whole);
    await minio.lose(1);
    await minio.lose(2);
    await expect.poll(() => minio.hasDrivesTo('write'), { timeout: 10_000 }).toBe(false);
    expect(await expectNothingLost(place, weir, sent, minio.url(bucket))).toBe(0);
  });

  test('takes nothing while two are lost, says when to come again, and goes on reading', {
    timeout,
  }, async () => {
    const refused = [pushOf('a push', dayText(1), '2'), largeDocument('large')];
    for (const one of refused) {
      const answer = await sendOnce(place, weir.url, one);
      expect(answer?.status).toBe(503);
      expect(Number(answer!.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    // Samples are still to be had here: a balancer is not sent away.
    expect(await readiness()).toBe(200);

    await minio.lose(3);
    await expect.poll(() => minio.hasDrivesTo('read'), { timeout: 10_000 }).toBe(false);
    await expectAway();
    expect(await readiness()).toBe(503);

    for (const drive of [1, 2, 3]) await minio.giveBack(drive);
    await expect.poll(() => minio.hasDrivesTo('write'), { timeout: 20_000 }).toBe(true);
    for (const one of refused) await sendUntilKept(place, weir.url, one);
    await expectNothingLost(place, weir, [...sent, ...refused], minio.url(bucket));
  });

  async function readiness(): Promise<number> {
    return (await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`)).status;
  }

  /** What cannot be read now is away, and not missing. */
  async function expectAway(): Promise<void> {
    const { sourceId } = place.push;
    const [delivery] = await place.catalog.deliveries.list(sourceId, { limit: 1 });
    const store = openArtifacts(minio.url(bucket));
    const failures = await Promise.all([
      failure(readAll(store, delivery!.place)),
      failure(store.contents(delivery!.place.object)),
      failure(store.ping()),
    ]);
    for (const error of failures) expect(error).toBeInstanceOf(StoreAway);
    await store.close();
  }
});
