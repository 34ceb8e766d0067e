import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../world/world.ts';
import type { Part } from './accept.ts';
import { countCpu } from './cpu.ts';
import { type RunningService, type Stores, startWeir } from './world.ts';

/** Parsing a backlog by one process that does nothing else; microseconds for each delivery. */
export interface Drained {
  readonly deliveries: number;
  readonly samples: number;
  readonly deliveriesPerSecond: number;
  readonly cpuUs: Readonly<Record<Part, number>>;
}

const waitMs = 180_000;
/** Asking counts the backlog, which is not what is measured. */
const askEveryMs = 500;

/** A parsing process that stands still while a backlog is made for it. */
export class HeldParser {
  readonly #stores: Stores;
  readonly #running: RunningService;

  private constructor(stores: Stores, running: RunningService) {
    this.#stores = stores;
    this.#running = running;
  }

  /** @returns one that has parsed what waits now: its code is warm */
  static async start(world: World, stores: Stores): Promise<HeldParser> {
    const running = await startWeir(world, stores, { processes: 1, roles: 'parse' });
    const parser = new HeldParser(stores, running);
    await untilParsed(stores);
    parser.#signal('SIGSTOP');
    return parser;
  }

  /** Lets it parse until nothing waits any more, and holds it again. */
  async drain(): Promise<Drained> {
    const stores = this.#stores;
    const { deliveries } = await stores.catalog.queue.backlog();
    const samples = await samplesOf(stores);
    const spent = countCpu({ ...this.#running.parts, ...stores.parts });
    const started = performance.now();
    this.#signal('SIGCONT');
    await untilParsed(stores);
    const seconds = (performance.now() - started) / 1_000;
    const cpu = Object.entries(spent()).map(([name, us]) => [name, us / deliveries] as const);
    this.#signal('SIGSTOP');
    return {
      deliveries,
      samples: ((await samplesOf(stores)) - samples) / deliveries,
      deliveriesPerSecond: deliveries / seconds,
      cpuUs: Object.fromEntries(cpu) as Record<Part, number>,
    };
  }

  /** Parses deliveries of one source again, which takes turns of that source. */
  async settle(limit: number): Promise<SettleMeasured> {
    this.#signal('SIGCONT');
    const found = await measureSettling(this.#stores, limit);
    this.#signal('SIGSTOP');
    return found;
  }

  async stop(): Promise<void> {
    if (this.#running.isRunning()) this.#signal('SIGCONT');
    await this.#running.stop();
  }

  #signal(signal: NodeJS.Signals): void {
    for (const pid of this.#running.workers) process.kill(pid, signal);
  }
}

export interface SettleMeasured {
  readonly deliveries: number;
  /** From asking for them to be parsed again until all are settled. */
  readonly seconds: number;
  /** Of the engine, for all of them. */
  readonly engineMs: number;
}

async function measureSettling(stores: Stores, limit: number): Promise<SettleMeasured> {
  const { rows } = await stores.postgres.run(
    stores.database,
    `select artifact_id as id from deliveries where status = 'parsed' and delivery = 'push'
       and source_id = (select min(source_id) from deliveries where delivery = 'push')
     order by sequence desc limit ${limit}`,
  );
  const artifactIds = (rows as { id: string }[]).map(({ id }) => id);
  const spent = countCpu({ engine: stores.parts.engine });
  const started = performance.now();
  const begun = await stores.catalog.reparses.begin({ artifactIds }, Date.now());
  await untilParsed(stores);
  const seconds = (performance.now() - started) / 1_000;
  return { deliveries: begun.length, seconds, engineMs: spent().engine / 1_000 };
}

async function untilParsed({ catalog }: Stores): Promise<void> {
  for (const end = performance.now() + waitMs; performance.now() < end; await sleep(askEveryMs)) {
    if ((await catalog.queue.backlog()).deliveries === 0) return;
  }
  throw new Error(`deliveries still wait to be parsed after ${waitMs / 1_000} s`);
}

async function samplesOf({ postgres, database }: Stores): Promise<number> {
  const text = 'select coalesce(sum(samples), 0)::float8 as n from deliveries';
  return (await postgres.run(database, text)).rows[0].n as number;
}
