import { expect, test } from 'vitest';
import { describeWith } from '../../support/need.ts';
import { startVersity, versityOrSkip } from '../../support/versitygw.ts';
import { randomOf } from '../load.ts';
import { expectNothingLost } from '../oracle.ts';
import { makePlace } from '../place.ts';
import { startMixedLoad } from './mixed-load.ts';

/** Another S3 store than MinIO, which answers one request a connection. */
describeWith('a service on versitygw', await versityOrSkip(), () => {
  test('loses nothing while the gateway is killed, is away and comes back under load', {
    timeout: 120_000,
  }, async () => {
    const place = await makePlace();
    const versity = await startVersity();
    try {
      const weir = place.weir({ WEIR_ARTIFACTS_URL: versity.url('faults') });
      await weir.start();
      const load = startMixedLoad(place, weir.url, randomOf(5));
      await load.receipts(20);
      await versity.kill();
      await expect.poll(() => load.answers.get(503), { timeout: 30_000 }).toBeGreaterThan(5);
      await versity.restart();
      await load.receipts(20);
      await load.stop();
      // Away is 503 and a time to come again; each sender came again.
      expect([...load.answers.keys()].sort()).toEqual([202, 503]);
      const orphans = await expectNothingLost(place, weir, load.sent, versity.url('faults'));
      // Stored in the moment of the kill, and not answered: one of each sender at most.
      expect(orphans).toBeLessThanOrEqual(6);
    } finally {
      await place.remove();
      await versity.stop();
    }
  });
});
