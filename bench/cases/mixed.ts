import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../src/domain/limits.ts';
import { type BenchCase, bySize, type Size } from '../case.ts';
import { type Loader, sharedLoader, takeNumbers } from '../load/loader.ts';
import { BenchEngine } from '../world/engine.ts';
import { insertHistory, windowDays } from '../world/history.ts';
import { type BenchSource, type BenchWeir, sharedWeir } from '../world/weir.ts';
import { freshWindows, latency, type ReadSource, readRequest, requireRead } from './reads.ts';

/**
 * Reads beside documents that stream in and are parsed, against reads alone. The next document is
 * sent when the one before is readable: something is parsed and inserted all the time, and no
 * backlog is left for the reads that are measured alone.
 */
export const mixed: BenchCase = {
  name: 'mixed',
  title: 'p99 of reads while 8 MiB documents stream in and are parsed, against reads alone',
  unit: 'ms',
  group: 'alone',
  variants: (size) => [
    {
      name: 'one document after the other',
      goal: { value: 2, bound: 'at most', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const weir = await sharedWeir(world, 'mixed');
        const engine = new BenchEngine(weir);
        const made = await weir.source('document');
        const series = bySize(size, { full: 300, quick: 300, tiny: 20 });
        const read: ReadSource = { ...made, series, days: windowDays };
        await insertHistory(engine, 'samples', read);
        await engine.command('OPTIMIZE TABLE samples FINAL');
        const reader = await sharedLoader(world, 'reader');
        const sender = await sharedLoader(world, 'sender');
        const source = await weir.source('document');
        const reads = async () => {
          await engine.untilMerged();
          const requests = freshWindows(readsOf(size)).map((window) =>
            readRequest(weir, read.key, window),
          );
          return latency(reader, { port: weir.port }, requests, { share: 0.99 });
        };
        let documents = 0;
        return {
          rounds: bySize(size, { full: 5, quick: 2, tiny: 1 }),
          check: () => requireRead(weir, read),
          async ours() {
            const stream = new DocumentStream(weir, source, sender, documentBytesOf(size));
            const p99 = await reads();
            documents += await stream.end();
            return p99;
          },
          theirs: reads,
          notes: () => [`${documents} documents came in beside the reads`],
          close: () => engine.close(),
        };
      },
    },
  ],
};

function readsOf(size: Size): number {
  return bySize(size, { full: 300, quick: 60, tiny: 5 });
}

function documentBytesOf(size: Size): number {
  return size === 'tiny' ? 64 * 1_024 : limits.deliveryBytesMax;
}

/** Documents, one after the other, each sent when the one before is readable. */
class DocumentStream {
  readonly #running: Promise<number>;
  #ended = false;

  constructor(weir: BenchWeir, source: BenchSource, sender: Loader, documentBytes: number) {
    this.#running = this.#run(weir, source, sender, documentBytes);
  }

  /** @returns how many there were, when the last one is readable */
  end(): Promise<number> {
    this.#ended = true;
    return this.#running;
  }

  async #run(
    weir: BenchWeir,
    { sourceId, key }: BenchSource,
    sender: Loader,
    documentBytes: number,
  ): Promise<number> {
    let sent = 0;
    for (; !this.#ended; sent++) {
      await sender.run({
        ...{ kind: 'documents', connections: 1, count: 1, first: takeNumbers(1) },
        ...{ target: { kind: 'ingest', port: weir.port, keys: [key] } },
        documentBytes,
      });
      while ((await newestStatus(weir, sourceId)) !== 'parsed') await sleep(20);
    }
    return sent;
  }
}

async function newestStatus(weir: BenchWeir, sourceId: string) {
  const [newest] = await weir.test.catalog.deliveries.list(sourceId, { limit: 1 });
  if (newest?.status === 'rejected') throw new Error(`${newest.artifactId} was rejected`);
  return newest?.status;
}
