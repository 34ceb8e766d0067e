import { limits } from '../../src/domain/limits.ts';
import type { Contest } from '../case.ts';
import { documentBytes } from '../load/document.ts';
import { templateOf } from '../load/documents.ts';
import { type Loader, sharedLoader, takeNumbers } from '../load/loader.ts';
import type { Job, Load } from '../load/messages.ts';
import { pushBody } from '../load/push.ts';
import { quantile } from '../statistics.ts';
import { requireKept, type Taker } from '../takers/taker.ts';
import { peakOf } from '../world/processes.ts';
import type { World } from '../world/world.ts';

/** Two takers of deliveries in turn, under the same load. */
export interface Takers {
  readonly ours: Taker;
  readonly theirs: Taker;
}

export interface DeliveryLoad {
  readonly connections: number;
  /** Deliveries of one measurement. */
  readonly count: number;
}

const pushBytes = 1_024;

/** Documents of 8 MiB; measured in MB (10⁶ bytes) a second. */
export function documentContest(
  world: World,
  takers: Takers,
  load: DeliveryLoad,
): Promise<Contest> {
  const documentBytesMax = world.size === 'tiny' ? 64 * 1_024 : limits.deliveryBytesMax;
  return contest(world, takers, {
    mediaType: 'application/octet-stream',
    body: (n) => documentBytes(templateOf(documentBytesMax), n),
    job: (target) => ({
      ...{ kind: 'documents', target, documentBytes: documentBytesMax },
      ...{ ...load, first: takeNumbers(load.count) },
    }),
    measure: ({ bytes, seconds }) => bytes / 1e6 / seconds,
  });
}

/** JSON pushes of 1 KiB; measured in receipts a second. */
export function pushContest(world: World, takers: Takers, load: DeliveryLoad): Promise<Contest> {
  return contest(world, takers, {
    mediaType: 'application/json',
    body: (n) => Buffer.from(pushBody(n, pushBytes)),
    job: (target) => ({
      ...{ kind: 'pushes', target, pushBytes },
      ...{ ...load, first: takeNumbers(load.count) },
    }),
    measure: ({ latenciesMs, seconds }) => latenciesMs.length / seconds,
  });
}

interface Kind {
  readonly mediaType: string;
  body(n: number): Buffer;
  job(target: Taker['target']): Job;
  measure(load: Load): number;
}

async function contest(world: World, { ours, theirs }: Takers, kind: Kind): Promise<Contest> {
  const loader = await sharedLoader(world);
  const [us, them] = [new Side(loader, ours, kind), new Side(loader, theirs, kind)];
  return {
    async check() {
      for (const { taker } of [us, them]) {
        const n = takeNumbers(1);
        await requireKept(taker, n, kind.body(n), kind.mediaType);
      }
    },
    ours: () => us.measure(),
    theirs: () => them.measure(),
    notes: () => [`ours: ${us.note()}`, `theirs: ${them.note()}`],
    async close() {},
  };
}

/** One of the two, with what it showed beside the measure. */
class Side {
  readonly taker: Taker;
  readonly #loader: Loader;
  readonly #kind: Kind;
  readonly #latenciesMs: number[] = [];

  constructor(loader: Loader, taker: Taker, kind: Kind) {
    this.#loader = loader;
    this.taker = taker;
    this.#kind = kind;
  }

  async measure(): Promise<number> {
    const load = await this.#loader.run(this.#kind.job(this.taker.target));
    this.#latenciesMs.push(...load.latenciesMs);
    return this.#kind.measure(load);
  }

  note(): string {
    const ms = (share: number) => `${quantile(this.#latenciesMs, share).toFixed(1)} ms`;
    const { pid } = this.taker;
    const memory = pid === null ? '' : `, at most ${Math.round(peakOf(pid))} MiB resident`;
    return `p50 ${ms(0.5)}, p99 ${ms(0.99)}${memory}`;
  }
}
