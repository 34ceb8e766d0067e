import { expect, test } from 'vitest';
import { takeNumbers } from '../../bench/load/loader.ts';
import { minioTaker } from '../../bench/takers/minio.ts';
import { requireKept, type Taker } from '../../bench/takers/taker.ts';
import { ensureTusd } from '../../bench/takers/tusd.ts';
import { World } from '../../bench/world/world.ts';
import { ensureMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { runTiny } from './support.ts';

const servers = await need('MinIO and tusd', async () => {
  await ensureMinio();
  await ensureTusd();
  return true;
});

describeWith('with MinIO and tusd', servers, () => {
  test.each(['documents', 'pushes', 'alone'] as const)(
    '%s: the cases run, and their answers are right',
    runTiny,
    120_000,
  );

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
