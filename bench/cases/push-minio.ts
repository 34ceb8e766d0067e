import { type BenchCase, bySize, type Size, type Variant } from '../case.ts';
import { minioTaker } from '../takers/minio.ts';
import { weirOnMinio, weirTaker } from '../takers/weir.ts';
import { pushContest } from './deliveries.ts';

/** Small pushes, each durable before its receipt, against one PUT for each of them. */
export const pushMinio: BenchCase = {
  name: 'push-minio',
  title: 'JSON pushes of 1 KiB through weir into MinIO, against one PUT for each',
  unit: 'receipts/s',
  group: 'minio',
  variants: (size) => [
    { name: '64 at once', goal: { value: 6, bound: 'at least', of: 'ratio' }, ...crowd(size) },
    // A lone client's latency stays within 1.5 times that of a PUT.
    { name: 'alone', goal: { value: 1 / 1.5, bound: 'at least', of: 'ratio' }, ...alone(size) },
  ],
};

type Rest = Omit<Variant, 'name' | 'goal'>;

function crowd(size: Size): Rest {
  return rest(64, bySize(size, { full: 8_000, quick: 3_000, tiny: 128 }));
}

function alone(size: Size): Rest {
  return rest(1, bySize(size, { full: 500, quick: 150, tiny: 10 }));
}

function rest(connections: number, count: number): Rest {
  return {
    judged: true,
    async prepare(world) {
      const ours = await weirTaker(await weirOnMinio(world, 'held'), 'push');
      return pushContest(world, { ours, theirs: await minioTaker(world) }, { connections, count });
    },
  };
}
