import { Accepting } from './accepting.ts';
import type { Question } from './model.ts';
import { Parsing } from './parsing.ts';
import { worldOf } from './simulated-world.ts';

/**
 * A simulation of a site with what its parts were measured to cost: accepting processes with one
 * segment under way each, one ledger for all of them, parsing processes with their threads and
 * inserts. Nothing of the model's formulas is in it: how many pushes share a segment, how large
 * groups are, what waits for what, comes out of the rules that the service follows.
 */
export interface Simulated {
  /** Of the time behind the warm-up. */
  readonly receiptsPerSecond: number;
  readonly parsedPerSecond: number;
  readonly latencyMs: number;
  readonly perSegment: number;
  readonly perGroup: number;
  /** Busy ones of a machine with everything on it; else of those that Postgres has. */
  readonly cores: number;
  /** What waits more at the end than after the warm-up, in deliveries a second. */
  readonly growth: Readonly<Record<Queue, number>>;
}

/** Where deliveries wait: for the loop and its segments, for the ledger, to be parsed. */
export type Queue = 'accepting' | 'ledger' | 'parsing';

export interface Run {
  readonly rate: number;
  readonly seed: number;
  /** Simulated, in milliseconds; what happens before `warmMs` is not counted. */
  readonly ms: number;
  readonly warmMs: number;
}

export function simulate(question: Question, { rate, seed, ms, warmMs }: Run): Simulated {
  const { site } = question;
  const world = worldOf(question, seed);
  const parsing = new Parsing(world);
  const perMs = rate / 1_000 / site.acceptProcesses;
  const processes = Array.from({ length: site.acceptProcesses }, () => {
    return new Accepting(world, perMs, (pushes, documents) => parsing.stored(pushes, documents));
  });
  const seen = () => ({
    receipts: total(processes, (one) => one.receipts),
    latency: total(processes, (one) => one.latencyMs),
    segments: total(processes, (one) => one.segments),
    bodies: total(processes, (one) => one.bodies),
    groups: total(processes, (one) => one.groups),
    parsed: parsing.parsed,
    coresMs: world.cores.postgres?.given ?? 0,
    accepting: total(processes, (one) => one.waitsToAccept),
    ledger: total(processes, (one) => one.waitsForLedger),
    parsing: parsing.waiting,
  });
  for (const one of processes) one.start();
  world.events.runUntil(warmMs);
  const before = seen();
  world.events.runUntil(ms);
  const after = seen();
  const seconds = (ms - warmMs) / 1_000;
  type Figure = keyof typeof before;
  const grown = (name: Figure) => after[name] - before[name];
  return {
    receiptsPerSecond: grown('receipts') / seconds,
    parsedPerSecond: grown('parsed') / seconds,
    latencyMs: grown('latency') / grown('receipts'),
    perSegment: grown('bodies') / grown('segments'),
    perGroup: grown('receipts') / grown('groups'),
    cores: grown('coresMs') / (ms - warmMs),
    growth: {
      accepting: grown('accepting') / seconds,
      ledger: grown('ledger') / seconds,
      parsing: grown('parsing') / seconds,
    },
  };
}

function total<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0);
}
