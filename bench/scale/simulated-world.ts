import { Events, Workers } from './events.ts';
import { groupMs, type Question } from './model.ts';
import { jittered, type Random, seeded } from './random.ts';

/** What all processes of a simulation share. */
export interface World {
  readonly question: Question;
  readonly events: Events;
  readonly random: Random;
  /** What has cores of its own; on one machine all of them are the same. */
  readonly cores: Readonly<Record<'accept' | 'parse' | 'postgres' | 'store' | 'engine', Cores>>;
  /** A group at a time, of whatever process. */
  readonly ledger: Workers;
}

/** Null: not looked at, since loops and threads say it already. */
type Cores = Workers | null;

export function worldOf(question: Question, seed: number): World {
  const { site } = question;
  const { isOneMachine, cores, storeMachines, engineNodes, storeCores } = site;
  const all = new Workers(cores);
  return {
    ...{ question, events: new Events(), random: seeded(seed) },
    cores: isOneMachine
      ? { accept: all, parse: all, postgres: all, store: all, engine: all }
      : {
          ...{ accept: null, parse: null, postgres: new Workers(cores) },
          store: new Workers(storeMachines * storeCores),
          engine: new Workers(engineNodes * storeCores),
        },
    ledger: new Workers(1),
  };
}

/** When something is done that takes so long, of it so much of a core. */
export function doneAt({ events, random }: World, cores: Cores, ms: number, us: number): number {
  const byClock = events.now + jittered(random, ms);
  if (cores === null) return byClock;
  return Math.max(byClock, cores.take(events.now, jittered(random, us / 1_000)));
}

/** A loop or a thread is one worker, and needs a core as well where these are short. */
export function workedAt(world: World, worker: Workers, cores: Cores, us: number): number {
  const ms = jittered(world.random, us / 1_000);
  const done = worker.take(world.events.now, ms);
  return cores === null ? done : Math.max(done, cores.take(world.events.now, ms));
}

/** A group takes the ledger when that is free. */
export function committedAt(world: World, size: number): number {
  const { question, random, events, ledger, cores } = world;
  const { each, perUnit } = question.costs.groupCpuUs;
  const held = jittered(random, groupMs(question, size));
  const done = ledger.take(events.now, held);
  const { postgres } = cores;
  if (postgres === null) return done;
  return Math.max(done, postgres.take(events.now, (each + perUnit * size) / 1_000));
}
