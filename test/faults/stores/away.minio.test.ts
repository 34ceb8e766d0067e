import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { type Minio, minioOrSkip, startMinio } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, pushOf, type Sent, sendOnce, sendUntilKept } from '../sender.ts';
import { largeDocument } from './bodies.ts';
import { residentBytes } from './resident-bytes.ts';

const timeout = 120_000;
const mib = 1024 * 1024;

describeWith('a store that goes away', await minioOrSkip(), () => {
  let minio: Minio;
  beforeAll(async () => {
    minio = await startMinio();
  });
  afterAll(() => minio.stop());

  test('without MinIO: 503 and Retry-After, flat memory; with it again: all as before', {
    timeout,
  }, async () => {
    const place = await makePlace();
    try {
      const artifactsUrl = minio.url('faults');
      const weir = place.weir({ WEIR_ARTIFACTS_URL: artifactsUrl });
      await weir.start();
      const first = [pushOf('first push', dayText(0), '1'), largeDocument('first')];
      for (const one of first) await sendUntilKept(place, weir.url, one);
      const before = residentBytes(weir);

      await minio.kill();
      const refused = [pushOf('a push', dayText(1), '2'), largeDocument('large')];
      for (let round = 0; round < 10; round++) {
        for (const one of refused) await expectAway(place, weir, one);
      }
      expect(residentBytes(weir) - before).toBeLessThan(64 * mib);
      // Told to a balancer too, which sends nothing here then.
      expect((await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`)).status).toBe(503);

      await minio.restart();
      for (const one of refused) await sendUntilKept(place, weir.url, one);
      const sent = [...first, ...refused];
      expect(await expectNothingLost(place, weir, sent, artifactsUrl)).toBe(0);
    } finally {
      await place.remove();
    }
  });

  test('a start without MinIO waits for it', { timeout }, async () => {
    const place = await makePlace();
    try {
      await minio.kill();
      const weir = place.weir({ WEIR_ARTIFACTS_URL: minio.url('late') });
      const started = weir.start();
      started.catch(() => {}); // Told where it is awaited.
      for (let waited = 0; !weir.log.includes('the artifact store is not ready'); waited += 50) {
        if (waited > 30_000) throw new Error(`the start does not wait: ${weir.log}`);
        await sleep(50);
      }
      await minio.restart();
      await started;
      const push = pushOf('a push', dayText(0), '1');
      await sendUntilKept(place, weir.url, push);
      expect(await expectNothingLost(place, weir, [push], minio.url('late'))).toBe(0);
    } finally {
      await place.remove();
    }
  });
});

async function expectAway(place: FaultPlace, weir: RunningWeir, sent: Sent): Promise<void> {
  const answer = await sendOnce(place, weir.url, sent);
  expect(answer?.status).toBe(503);
  expect(JSON.parse(answer!.text)).toMatchObject({ code: 'internal' });
  expect(Number(answer!.headers.get('Retry-After'))).toBeGreaterThan(0);
}
