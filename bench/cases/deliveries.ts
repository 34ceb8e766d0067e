import { limits } from '../../src/domain/limits.ts';
import type { Contest, Size } from '../case.ts';
import { documentBytes } from '../load/document.ts';
import { templateOf } from '../load/documents.ts';
import { type Loader, sharedLoader, takeNumbers } from '../load/loader.ts';
import type { Job, Load } from '../load/messages.ts';
import { pushBody } from '../load/push.ts';
import { quantile } from '../statistics.ts';
import { requireKept, type Taker } from '../takers/taker.ts';
import { peakOf, resetPeak, residentOf } from '../world/processes.ts';
import type { World } from '../world/world.ts';

/** Two takers of deliveries in turn, under the same load. */
export interface Takers {
  readonly ours: Taker;
  readonly theirs: Taker;
}

export interface DeliveryLoad {
  readonly connections: number;
}

/** About how long one measurement takes: so many deliveries are sent as went by in that time. */
const seconds: Readonly<Record<Size, number>> = { full: 1, quick: 0.35, tiny: 0 };

const pushBytes = 1_024;

/** Documents of 8 MiB; measured in MB (10⁶ bytes) a second. */
export function documentContest(
  world: World,
  takers: Takers,
  load: DeliveryLoad,
): Promise<Contest> {
  const documentBytesMax = world.size === 'tiny' ? 64 * 1_024 : limits.deliveryBytesMax;
  return contest(world, takers, load, {
    mediaType: 'application/octet-stream',
    body: (n) => documentBytes(templateOf(documentBytesMax), n),
    job: (target, count) => ({
      ...{ kind: 'documents', target, documentBytes: documentBytesMax },
      ...{ ...load, count, first: takeNumbers(count) },
    }),
    measure: ({ bytes, seconds }) => bytes / 1e6 / seconds,
  });
}

/** JSON pushes of 1 KiB; measured in receipts a second. */
export function pushContest(world: World, takers: Takers, load: DeliveryLoad): Promise<Contest> {
  return contest(world, takers, load, {
    mediaType: 'application/json',
    body: (n) => Buffer.from(pushBody(n, pushBytes)),
    job: (target, count) => ({
      ...{ kind: 'pushes', target, pushBytes },
      ...{ ...load, count, first: takeNumbers(count) },
    }),
    measure: ({ latenciesMs, seconds }) => latenciesMs.length / seconds,
  });
}

interface Kind {
  readonly mediaType: string;
  body(n: number): Buffer;
  job(target: Taker['target'], count: number): Job;
  measure(load: Load): number;
}

async function contest(
  world: World,
  { ours, theirs }: Takers,
  { connections }: DeliveryLoad,
  kind: Kind,
): Promise<Contest> {
  const loader = await sharedLoader(world);
  const countMin = (world.size === 'full' ? 2 : 1) * connections;
  const about = { kind, countMin, seconds: seconds[world.size] };
  const [us, them] = [new Side(loader, ours, about), new Side(loader, theirs, about)];
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

interface AboutSide {
  readonly kind: Kind;
  /** What is sent at least, and the first time. */
  readonly countMin: number;
  readonly seconds: number;
}

/** One of the two, with what it showed beside the measure. */
class Side {
  readonly taker: Taker;
  readonly #loader: Loader;
  readonly #about: AboutSide;
  readonly #latenciesMs: number[] = [];
  #count: number;
  /** Of its process, before the first measurement. */
  readonly #restMiB: number | null;

  constructor(loader: Loader, taker: Taker, about: AboutSide) {
    this.#loader = loader;
    this.taker = taker;
    this.#about = about;
    this.#count = about.countMin;
    const { pid } = taker;
    this.#restMiB = pid === null ? null : residentOf(pid);
    if (pid !== null) resetPeak(pid);
  }

  async measure(): Promise<number> {
    const { kind, countMin, seconds } = this.#about;
    const load = await this.#loader.run(kind.job(this.taker.target, this.#count));
    this.#latenciesMs.push(...load.latenciesMs);
    this.#count = Math.max(countMin, Math.round((this.#count * seconds) / load.seconds));
    return kind.measure(load);
  }

  note(): string {
    const ms = (share: number) => `${quantile(this.#latenciesMs, share).toFixed(1)} ms`;
    return `p50 ${ms(0.5)}, p99 ${ms(0.99)}${this.#memory()}`;
  }

  #memory(): string {
    const { pid } = this.taker;
    if (pid === null || this.#restMiB === null) return '';
    const [rest, grown] = [this.#restMiB, peakOf(pid) - this.#restMiB].map(Math.round);
    return `, ${rest} MiB resident before and at most ${grown} MiB more`;
  }
}
