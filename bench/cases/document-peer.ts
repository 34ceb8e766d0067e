import type { BenchCase, Variant } from '../case.ts';
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
  group: 'documents',
  variants: () => [
    variant('Fastify, 4 at once', fastifyOnMinio),
    variant('tusd, 4 at once', tusdTaker),
  ],
};

function variant(name: string, peer: (world: World) => Promise<Taker>): Variant {
  return {
    name,
    goal: { value: 2, bound: 'at least', of: 'ratio' },
    judged: true,
    async prepare(world) {
      const ours = await weirTaker(await weirOnMinio(world, 'held'), 'document');
      return documentContest(world, { ours, theirs: await peer(world) }, { connections: 4 });
    },
  };
}
