import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceVictim, Victim } from './victims.ts';

/** Those of a run; `process`, `postgres` and `redis` are of a service of several processes. */
export interface Victims {
  readonly service: ServiceVictim;
  readonly engine: Victim;
  readonly minio?: Victim;
  readonly process?: Victim;
  readonly postgres?: Victim;
  readonly redis?: Victim;
}

type Name = keyof Victims;
type Random = (n: number) => number;

/** Made where all of whom it needs are there, as often as it says. */
interface Fault {
  readonly times: number;
  readonly of: readonly Name[];
  make(victims: Required<Victims>, random: Random): Promise<unknown>;
}

const kill = (name: Name, times: number): Fault => ({
  ...{ times, of: [name] },
  make: (victims) => victims[name].kill(),
});

/** It ends while other faults are made. */
const stop = (name: Name, maxMs: number): Fault => ({
  ...{ times: 1, of: [name] },
  make: async (victims, random) => void victims[name].stop(100 + random(maxMs)),
});

const faults: readonly Fault[] = [
  ...[kill('service', 4), kill('engine', 3), kill('minio', 2)],
  ...[kill('process', 3), kill('postgres', 2), kill('redis', 2)],
  {
    ...{ times: 1, of: ['service', 'engine'] },
    make: ({ service, engine }) => Promise.all([engine.kill(), service.kill()]),
  },
  {
    ...{ times: 1, of: ['service', 'postgres'] },
    make: ({ service, postgres }) => Promise.all([postgres.kill(), service.kill()]),
  },
  {
    ...{ times: 2, of: [] },
    make: (victims) => Promise.all(victimsIn(victims).map((one) => one.kill())),
  },
  // Again while it starts.
  {
    ...{ times: 1, of: ['service'] },
    async make({ service }, random) {
      await service.kill();
      await sleep(random(1_500));
      await service.kill();
    },
  },
  // A stopped engine cannot see that its service is gone.
  {
    ...{ times: 1, of: ['service', 'engine'] },
    async make({ service, engine }, random) {
      void engine.stop(200 + random(2_000));
      await service.kill();
    },
  },
  // What waits for an answer goes, and another takes its deliveries over.
  {
    ...{ times: 1, of: ['process', 'postgres'] },
    async make({ process, postgres }, random) {
      void postgres.stop(200 + random(2_000));
      await sleep(100);
      await process.kill();
    },
  },
  ...[stop('service', 2_000), stop('engine', 3_000), stop('minio', 3_000)],
  ...[stop('process', 2_000), stop('postgres', 3_000), stop('redis', 3_000)],
];

/** Each fault that these can have, as often as it comes. */
function faultsOf(victims: Victims): Fault[] {
  const possible = faults.filter(({ of }) => of.every((name) => victims[name]));
  return possible.flatMap((fault) => Array.from({ length: fault.times }, () => fault));
}

/** So long nothing is done between two faults; less while kills are behind their number. */
const pauseMs = { least: 50, most: 2_000, behind: 400 };
/** One kill in so long, on average: over 200 in ten minutes. */
const killEveryMs = 2_700;

/** Who cannot be killed by then does not run. */
const firstKillWaitMs = 60_000;

/**
 * Makes faults at random times until it is aborted, but kills each of the victims once before, in
 * any order: a short storm has had them all.
 *
 * @param onFault told of each
 * @throws Error when one of them could not be killed
 */
export async function storm(
  victims: Victims,
  random: Random,
  signal: AbortSignal,
  onFault: () => void = () => {},
): Promise<void> {
  const began = Date.now();
  for (const one of inAnyOrder(victimsIn(victims), random)) {
    await victims.service.ready();
    await sleep(pauseMs.least + random(pauseMs.behind));
    await killFirst(one);
    onFault();
  }
  const all = faultsOf(victims);
  while (!signal.aborted) {
    // Most faults find a service that works, some one that starts.
    if (random(4) > 0) await victims.service.ready();
    const isBehind = killsOf(victims) < (Date.now() - began) / killEveryMs;
    await sleep(pauseMs.least + random(isBehind ? pauseMs.behind : pauseMs.most));
    await all[random(all.length)]!.make(victims as Required<Victims>, random);
    onFault();
  }
}

/** It may be away just now. */
async function killFirst(victim: Victim): Promise<void> {
  for (const until = Date.now() + firstKillWaitMs; ; await sleep(20)) {
    await victim.kill();
    if (victim.kills > 0) return;
    if (Date.now() > until) throw new Error(`${victim.name} could not be killed`);
  }
}

function inAnyOrder<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0]!);
}

export function victimsIn({ service, ...others }: Victims): Victim[] {
  return [service, ...othersIn(others)];
}

/** All but the service. */
export function othersIn(victims: Omit<Victims, 'service'>): Victim[] {
  const { engine, minio, process, postgres, redis } = victims;
  return [engine, minio, process, postgres, redis].filter((one) => one !== undefined);
}

/** How many kills there were of all of them. */
export function killsOf(victims: Victims): number {
  return victimsIn(victims).reduce((sum, one) => sum + one.kills, 0);
}

/** Resolves when all runs again as if there had been no fault. */
export async function healed({ process, ...victims }: Victims): Promise<void> {
  await Promise.all(othersIn(victims).map((one) => one.healed()));
  await victims.service.healed();
  await process?.healed();
}
