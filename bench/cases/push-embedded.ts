import type { BenchCase } from '../case.ts';
import { fastifyOnFiles } from '../takers/peer.ts';
import { weirOnFiles, weirTaker } from '../takers/weir.ts';
import { pushContest } from './deliveries.ts';

/** Small pushes on the embedded defaults, against the ordinary service with equal durability. */
export const pushEmbedded: BenchCase = {
  name: 'push-embedded',
  title: 'pushes on the embedded stores, against Fastify with files and SQLite, synced alike',
  unit: 'receipts/s',
  group: 'embedded',
  variants: () => [
    {
      name: '64 at once',
      goal: { value: 3, bound: 'at least', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const ours = await weirTaker(await weirOnFiles(world, 'held'), 'push');
        const theirs = await fastifyOnFiles(world);
        return pushContest(world, { ours, theirs }, { connections: 64 });
      },
    },
  ],
};
