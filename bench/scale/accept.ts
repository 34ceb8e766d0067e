import { setTimeout as sleep } from 'node:timers/promises';
import { takeNumbers } from '../load/loader.ts';
import type { Job } from '../load/messages.ts';
import { median, quantile } from '../statistics.ts';
import { countCpu, limitCpu, machineUs } from './cpu.ts';
import type { RunningService, StorePart, Stores, WeirPart } from './world.ts';

/** What is sent, and by how many senders, each of which waits for its receipt. */
export interface Sending {
  readonly kind: 'pushes' | 'documents';
  readonly senders: number;
  readonly bytes: number;
  /** Deliveries of a round: as many as take so long at the rate of the round before, at most. */
  readonly seconds: number;
  readonly countMax: number;
}

export type Part = WeirPart | StorePart;

/** One run of a load. Everything with `Us` is microseconds for each receipt. */
export interface Round {
  readonly receiptsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: Readonly<Record<Part, number>>;
  /** Of one core, taken by the event loop of the busiest process, of 1. */
  readonly loopShare: number;
  /** Of the machine, taken by others than this bench. */
  readonly othersShare: number;
  /** Deliveries that shared an object, and a commit of the ledger. */
  readonly perObject: number;
  readonly perGroup: number;
  readonly secondsPerGroup: number;
}

async function runLoad(
  stores: Stores,
  service: RunningService,
  sending: Sending,
  count: number,
): Promise<Round> {
  const before = await newest(stores);
  const spent = countCpu({ ...service.parts, ...stores.parts });
  const ofLoops = service.workers.map((pid) => countCpu({ loop: () => [{ pid, which: 'main' }] }));
  const machine = machineUs();
  const load = await stores.loader.run(jobOf(stores, service, sending, count));
  const cpu = spent();
  const all = machineUs() - machine;
  const loops = ofLoops.map((count) => count().loop);
  const receipts = load.latenciesMs.length;
  const ours = Object.values(cpu).reduce((sum, us) => sum + us, 0);
  const each = Object.entries(cpu).map(([name, us]) => [name, us / receipts] as const);
  const shared = await sharing(stores, before);
  return {
    receiptsPerSecond: receipts / load.seconds,
    p50Ms: median(load.latenciesMs),
    p99Ms: quantile(load.latenciesMs, 0.99),
    cpuUs: Object.fromEntries(each) as Record<Part, number>,
    loopShare: Math.max(...loops) / 1e6 / load.seconds,
    othersShare: Math.max(0, all - ours) / Math.max(1, all),
    perObject: receipts / shared.objects,
    perGroup: receipts / shared.groups,
    secondsPerGroup: load.seconds / shared.groups,
  };
}

function jobOf(stores: Stores, service: RunningService, sending: Sending, count: number): Job {
  const { kind, senders: connections, bytes } = sending;
  const first = takeNumbers(count);
  const keys = kind === 'pushes' ? stores.keys.push : stores.keys.document;
  const target = { ...service.target, keys };
  const shared = { target, connections, first, count };
  return kind === 'pushes'
    ? { kind, ...shared, pushBytes: bytes }
    : { kind, ...shared, documentBytes: bytes };
}

async function newest({ postgres, database }: Stores): Promise<number> {
  const text = 'select coalesce(max(sequence), 0)::int as n from delivery_bodies';
  return (await postgres.run(database, text)).rows[0].n as number;
}

/** Objects and commits of what was stored since; what one transaction inserts has one number. */
async function sharing({ postgres, database }: Stores, after: number) {
  const groups = await postgres.run(
    database,
    `select count(distinct xmin::text)::int as n from delivery_bodies where sequence > ${after}`,
  );
  const objects = await postgres.run(
    database,
    `select count(distinct object)::int as n from deliveries where sequence > ${after}`,
  );
  return { groups: groups.rows[0].n as number, objects: objects.rows[0].n as number };
}

export interface Compared {
  readonly one: Round;
  readonly two: Round;
  /** Receipts a second of two processes for each of one: the median of the pairs' ratios. */
  readonly ratio: number;
  readonly ratios: readonly number[];
}

/** One process, two, one, two …, after a round of each that does not count. */
export async function compareProcesses(
  stores: Stores,
  [one, two]: readonly [RunningService, RunningService],
  sending: Sending,
  rounds: number,
): Promise<Compared> {
  const warm = Math.max(sending.senders, Math.ceil(sending.countMax / 8));
  const rates = [];
  for (const service of [one, two]) {
    rates.push((await runLoad(stores, service, sending, warm)).receiptsPerSecond);
  }
  const wanted = Math.ceil(Math.min(...rates) * sending.seconds);
  const count = Math.max(2 * sending.senders, Math.min(wanted, sending.countMax));
  const taken: { one: Round; two: Round }[] = [];
  while (taken.length < rounds) {
    const ofOne = await runLoad(stores, one, sending, count);
    taken.push({ one: ofOne, two: await runLoad(stores, two, sending, count) });
  }
  const ratios = taken.map((pair) => pair.two.receiptsPerSecond / pair.one.receiptsPerSecond);
  return {
    one: middle(taken.map((pair) => pair.one)),
    two: middle(taken.map((pair) => pair.two)),
    ratio: median(ratios),
    ratios,
  };
}

/**
 * The same where each process gets a part of one core and no more, so that the stores and the load
 * find what they need beside: what a second accepting process adds where cores are not short.
 *
 * @returns null where the system does not let anybody limit processes
 */
export async function compareLimited(
  stores: Stores,
  services: readonly [RunningService, RunningService],
  sending: Sending,
  { rounds, coreShare }: { readonly rounds: number; readonly coreShare: number },
): Promise<Compared | null> {
  const pids = services.flatMap(({ workers }) => workers);
  const undo = limitCpu(pids, coreShare);
  if (undo === null) return null;
  try {
    await sleep(500);
    return await compareProcesses(stores, services, sending, rounds);
  } finally {
    undo();
  }
}

/** The median of each figure by itself. */
function middle(rounds: readonly Round[]): Round {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const names = Object.keys(rounds[0]!.cpuUs) as Part[];
  const cpu = names.map((name) => [name, of((round) => round.cpuUs[name])] as const);
  return {
    receiptsPerSecond: of((round) => round.receiptsPerSecond),
    p50Ms: of((round) => round.p50Ms),
    p99Ms: of((round) => round.p99Ms),
    cpuUs: Object.fromEntries(cpu) as Record<Part, number>,
    loopShare: of((round) => round.loopShare),
    othersShare: of((round) => round.othersShare),
    perObject: of((round) => round.perObject),
    perGroup: of((round) => round.perGroup),
    secondsPerGroup: of((round) => round.secondsPerGroup),
  };
}
