import type { BenchCase } from '../case.ts';
import { fastifyOnMinio } from '../takers/peer.ts';
import { weirOnMinio, weirTaker } from '../takers/weir.ts';
import { pushContest } from './deliveries.ts';

/** Small pushes into MinIO, against the ordinary service. */
export const pushPeer: BenchCase = {
  name: 'push-peer',
  title: 'the same pushes, against a Fastify service with putObject and SQLite',
  unit: 'receipts/s',
  group: 'pushes',
  variants: () => [
    {
      name: '64 at once',
      goal: { value: 5, bound: 'at least', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const ours = await weirTaker(await weirOnMinio(world, 'held'), 'push');
        const theirs = await fastifyOnMinio(world);
        return pushContest(world, { ours, theirs }, { connections: 64 });
      },
    },
  ],
};
