import { expect, test } from 'vitest';
import { takeNumbers } from '../../bench/load/loader.ts';
import { minioTaker } from '../../bench/takers/minio.ts';
import { requireKept, type Taker } from '../../bench/takers/taker.ts';
import { World } from '../../bench/world/world.ts';
import { minioOrSkip } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { runTiny } from './support.ts';

describeWith('with MinIO', await minioOrSkip(), () => {
  test('the cases run, and their answers are right', () => runTiny('minio'), 60_000);

  test('bytes that are stored otherwise are noticed before anything is timed', async () => {
    const world = new World('tiny');
    try {
      const honest = await minioTaker(world);
      const taker: Taker = { ...honest, stored: async () => Buffer.from('other bytes') };
      const body = Buffer.from('day\n2026-01-01\n');
      await requireKept(honest, takeNumbers(1), body, 'application/octet-stream');
      await expect(
        requireKept(taker, takeNumbers(1), body, 'application/octet-stream'),
      ).rejects.toThrow('stored with other bytes');
    } finally {
      await world.end();
    }
  });
});
