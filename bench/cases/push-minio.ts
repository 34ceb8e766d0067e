import type { BenchCase, Variant } from '../case.ts';
import { minioTaker } from '../takers/minio.ts';
import { weirOnMinio, weirTaker } from '../takers/weir.ts';
import { pushContest } from './deliveries.ts';

/** Small pushes, each durable before its receipt, against one PUT for each of them. */
export const pushMinio: BenchCase = {
  name: 'push-minio',
  title: 'JSON pushes of 1 KiB through weir into MinIO, against one PUT for each',
  unit: 'receipts/s',
  group: 'pushes',
  variants: () => [
    variant('64 at once', 64, 6),
    // A lone client's latency stays within 1.5 times that of a PUT.
    variant('alone', 1, 1 / 1.5),
  ],
};

function variant(name: string, connections: number, atLeast: number): Variant {
  return {
    name,
    goal: { value: atLeast, bound: 'at least', of: 'ratio' },
    judged: true,
    async prepare(world) {
      const ours = await weirTaker(await weirOnMinio(world, 'held'), 'push');
      return pushContest(world, { ours, theirs: await minioTaker(world) }, { connections });
    },
  };
}
