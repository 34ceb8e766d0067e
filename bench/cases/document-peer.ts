import { type BenchCase, bySize, type Size, type Variant } from '../case.ts';
import { fastifyOnMinio } from '../takers/peer.ts';
import type { Taker } from '../takers/taker.ts';
import { tusdTaker } from '../takers/tusd.ts';
import { weirOnMinio, weirTaker } from '../takers/weir.ts';
import type { World } from '../world/world.ts';
import { documentContest } from './deliveries.ts';

/** Documents through weir into MinIO, against others who put documents there. */
export const documentPeer: BenchCase = {
  name: 'document-peer',
  title: 'the same documents, against a Fastify service with putObject, and against tusd',
  unit: 'MB/s',
  group: 'minio',
  variants: (size) => [
    variant(size, 'Fastify, 4 at once', fastifyOnMinio),
    variant(size, 'tusd, 4 at once', tusdTaker),
  ],
};

function variant(size: Size, name: string, peer: (world: World) => Promise<Taker>): Variant {
  const count = bySize(size, { full: 48, quick: 16, tiny: 4 });
  return {
    name,
    goal: { value: 2, bound: 'at least', of: 'ratio' },
    judged: true,
    async prepare(world) {
      const ours = await weirTaker(await weirOnMinio(world, 'held'), 'document');
      return documentContest(world, { ours, theirs: await peer(world) }, { connections: 4, count });
    },
  };
}
