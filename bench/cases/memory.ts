import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../src/domain/limits.ts';
import { type BenchCase, bySize, type Contest, type Size, type Variant } from '../case.ts';
import { documentBytes } from '../load/document.ts';
import { templateOf } from '../load/documents.ts';
import { type Loader, sharedLoader, takeNumbers } from '../load/loader.ts';
import { startFastifyOnMinio } from '../takers/peer.ts';
import { requireKept, type Taker } from '../takers/taker.ts';
import { weirTaker } from '../takers/weir.ts';
import { peakOf, resetPeak, residentOf, untilQuiet } from '../world/processes.ts';
import { sharedMinio } from '../world/stores.ts';
import { BenchWeir } from '../world/weir.ts';
import type { Started, World } from '../world/world.ts';

/** What a service holds in memory beyond what it holds at rest. Its ClickHouse is not counted. */
export const memory: BenchCase = {
  name: 'memory',
  title: 'resident memory above rest, under load; the Fastify service beside it',
  unit: 'MiB',
  group: 'alone',
  variants: (size) => [
    variant(size, '64 uploads of 8 MiB at once', 100, uploads),
    variant(size, '1,024 idle connections', 50, idleConnections),
  ],
};

/** Puts a load on a service and says how much memory it had at most, or has now, in MiB. */
type Load = (
  loader: Loader,
  taker: Taker & { readonly pid: number },
  size: Size,
) => Promise<number>;

function variant(size: Size, name: string, atMost: number, load: Load): Variant {
  return {
    name,
    goal: { value: atMost, bound: 'at most', of: 'ours' },
    judged: true,
    async prepare(world): Promise<Contest> {
      const loader = await sharedLoader(world);
      const measure = async (start: () => Promise<Started<Taker>>) => {
        const { value: taker, stop } = await start();
        try {
          return await aboveRest(loader, taker, size, load);
        } finally {
          await stop();
        }
      };
      return {
        rounds: bySize(size, { full: 3, quick: 1, tiny: 1 }),
        async check() {},
        ours: () => measure(() => freshWeir(world)),
        theirs: () => measure(() => startFastifyOnMinio(world)),
        async close() {},
      };
    },
  };
}

async function aboveRest(
  loader: Loader,
  { pid, ...rest }: Taker,
  size: Size,
  load: Load,
): Promise<number> {
  if (pid === null) throw new Error('no process can be looked at');
  const taker = { ...rest, pid };
  // What is loaded once, with the first delivery, belongs to rest.
  const n = takeNumbers(1);
  const type = 'application/octet-stream';
  await requireKept(taker, n, documentBytes(templateOf(64 * 1_024), n), type);
  await untilQuiet(pid);
  const atRest = residentOf(pid);
  resetPeak(pid);
  // A service may end with less than it began with; a ratio needs something.
  return Math.max(0.1, (await load(loader, taker, size)) - atRest);
}

async function uploads(...[loader, { target, pid }, size]: Parameters<Load>): Promise<number> {
  const count = bySize(size, { full: 64, quick: 64, tiny: 4 });
  await loader.run({
    ...{ kind: 'documents', target, connections: count, count, first: takeNumbers(count) },
    documentBytes: limits.deliveryBytesMax,
  });
  return peakOf(pid);
}

async function idleConnections(
  ...[loader, { target, pid }, size]: Parameters<Load>
): Promise<number> {
  if (target.kind !== 'ingest') throw new Error('it takes no connections of this kind');
  const connections = bySize(size, { full: 1_024, quick: 1_024, tiny: 64 });
  await loader.run({ kind: 'idle', port: target.port, connections });
  await sleep(500);
  const resident = residentOf(pid);
  await loader.run({ kind: 'release' });
  return resident;
}

async function freshWeir(world: World): Promise<Started<Taker>> {
  const minio = await sharedMinio(world);
  const bucket = `memory-${takeNumbers(1)}`;
  const weir = await BenchWeir.start({ WEIR_ARTIFACTS_URL: minio.url(bucket) });
  return { value: await weirTaker(weir, 'document'), stop: () => weir.stop() };
}
