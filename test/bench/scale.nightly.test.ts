import { expect, test } from 'vitest';
import { costsOf } from '../../bench/scale/costs.ts';
import { measureScale } from '../../bench/scale/measure.ts';
import { gainsOf } from '../../bench/scale/report.ts';
import { World } from '../../bench/world/world.ts';
import { minioOrSkip } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { postgresOrSkip } from '../support/postgres.ts';
import { redisOrSkip } from '../support/redis.ts';

const all = [await minioOrSkip(), await postgresOrSkip(), await redisOrSkip()];
const missing = all.find(({ reason }) => reason !== null);

describeWith('the bench of several processes', missing ?? all[0]!, () => {
  test('measures every cost, on real stores', { timeout: 280_000 }, async () => {
    const world = new World('tiny');
    try {
      const measured = await measureScale(world, () => {});
      for (const { one, two, ratio } of gainsOf(measured)) {
        expect(one).toBeGreaterThan(0);
        expect(Math.abs(ratio / (two / one) - 1)).toBeLessThan(0.01);
      }
      const costs = costsOf(measured);
      expect(costs.parsePush.samples).toBe(2);
      expect(measured.parsePushes.deliveries).toBeGreaterThan(100);
      expect(measured.settle.deliveries).toBeGreaterThan(0);
      expect(costs.groupMs.each + costs.groupMs.perUnit).toBeGreaterThan(0);
      expect(costs.globalIndexBytes).toBeGreaterThan(100);
    } finally {
      await world.end();
    }
  });
});
