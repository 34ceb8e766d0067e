import { limits } from '../../src/domain/limits.ts';
import {
  capacityOf,
  groupMs,
  latencyMs,
  type Question,
  type Resource,
  ratesAt,
  utilization,
} from './model.ts';
import { type Queue, type Run, type Simulated, simulate } from './simulate.ts';

/** How far the model may be from the simulation: what is taken, and what it takes to do so. */
export const tolerance = { taken: 0.15, time: 0.25 };
/** What the model says of a site, and what the simulation makes of it. */
export interface Agreement {
  /** Null for one machine: see `Overload`. */
  readonly overload: Overload | null;
  readonly capacity: number;
  /** Cores that are busy at half of the capacity, on one machine; null: not counted together. */
  readonly cores: Compared | null;
  /** From a push's coming to its receipt at half of the capacity, in milliseconds. */
  readonly latency: Compared;
  readonly first: Resource;
  /**
   * What piles up in a second of each that comes in a second, at 90 % of the capacity; at 75 % on
   * one machine, where a core that others want as well makes lines long before it is used up.
   */
  readonly below: number;
}

/**
 * What is found at 125 % of the capacity. Not for one machine: where loops, threads and stores wait
 * for the same cores, it is the kernel that shares these out, which is not simulated.
 */
export interface Overload {
  readonly taken: Compared;
  /** Where deliveries may pile up then: before whatever is nearly used up. */
  readonly queues: readonly Queue[];
  /** Where they do. */
  readonly longest: Queue;
  /** What piles up in a second of each that comes in a second. */
  readonly growth: number;
}

export interface Compared {
  readonly model: number;
  readonly simulated: number;
}

/** Of the capacity, simulated. */
const shares = { half: 0.5, below: 0.9, belowOnOneMachine: 0.75, above: 1.25 };

export function agreementOf(question: Question, seed: number): Agreement {
  const { rate, first } = capacityOf(question);
  const { isOneMachine } = question.site;
  // Long enough for a hundred full groups, and for all that a parsing process may hold.
  const ms = Math.max(24_000, 100 * groupMs(question, limits.ledgerGroupMax));
  const run = (share: number): Run => ({ rate: rate * share, seed, ms, warmMs: ms / 2 });
  const half = simulate(question, run(shares.half));
  const share = isOneMachine ? shares.belowOnOneMachine : shares.below;
  const below = simulate(question, run(share));
  const all = ratesAt(question, rate * shares.half).find(({ name }) => name === 'cores');
  return {
    overload: isOneMachine ? null : overloadOf(question, rate, run(shares.above)),
    capacity: rate,
    cores: all === undefined ? null : { model: all.needed, simulated: half.cores },
    latency: { model: latencyMs(question, rate * shares.half), simulated: half.latencyMs },
    first,
    below: grown(below) / (share * rate),
  };
}

function overloadOf(question: Question, rate: number, run: Run): Overload {
  const above = simulate(question, run);
  const taken = Math.min(above.receiptsPerSecond, above.parsedPerSecond);
  const near = ratesAt(question, rate).filter((one) => utilization(one) > 1 - tolerance.taken);
  return {
    taken: { model: rate, simulated: taken },
    ...{ queues: near.flatMap(queuesOf), longest: longestOf(above) },
    growth: grown(above) / run.rate,
  };
}

export function agrees({ model, simulated }: Compared, within: number): boolean {
  return Math.abs(simulated / model - 1) <= within;
}

function grown({ growth }: Simulated): number {
  return growth.accepting + growth.ledger + growth.parsing;
}

function longestOf({ growth }: Simulated): Queue {
  const queues = Object.keys(growth) as Queue[];
  return queues.reduce((a, b) => (growth[b] > growth[a] ? b : a));
}

function queuesOf({ name }: Resource): readonly Queue[] {
  if (name === 'ledger') return ['ledger'];
  if (name === 'accepting loops') return ['accepting'];
  if (/^(parsing|claims)/.test(name)) return ['parsing'];
  return ['accepting', 'ledger', 'parsing'];
}
