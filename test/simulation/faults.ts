import type { Weathers } from './node.ts';
import { fairWeathers } from './node.ts';
import { doneLateMsMax, type Weather, type World } from './outside.ts';

/** What happens in a run, and when; all of it is over at `healedAt`. */
export interface Plan {
  readonly nodes: number;
  readonly weathers: Weathers;
  readonly events: readonly PlannedEvent[];
  /** Deliveries are parsed again, so much later than the beginning. */
  readonly reparses: readonly number[];
  readonly twicePercent: number;
  /** So long after the end something may still be done that was sent before the last fault. */
  readonly lateMs: number;
}

type StoreName = 'catalog' | 'objects' | 'samples';

export type PlannedEvent =
  | { readonly at: number; readonly kind: 'kill' | 'stop'; readonly node: number; backAt: number }
  | { readonly at: number; readonly kind: 'stand still'; readonly node: number; until: number }
  | { readonly at: number; readonly kind: 'down' | 'up'; readonly store: StoreName }
  | { readonly at: number; readonly kind: 'clock'; readonly skewMs: number };

export const healedAt = 6_000;
const storeNames = ['catalog', 'objects', 'samples'] as const;

/** One run in twenty has no faults at all. */
export function planFaults({ random }: World): Plan {
  const weathers = fairWeathers();
  const nodes = random.percent(35) ? 2 : 1;
  const reparses = random.percent(35)
    ? Array.from({ length: random.between(1, 3) }, () => random.between(1_000, healedAt + 2_000))
    : [];
  const twicePercent = random.pick([0, 0, 20]);
  const plan = { nodes, weathers, reparses, twicePercent };
  if (random.percent(5)) return { ...plan, events: [], lateMs: 0 };
  for (const name of storeNames) {
    if (random.percent(50)) makeBad(weathers[name], name, random);
  }
  weathers.deaths.left = random.pick([0, 0, 1, 2]);
  const events = [...deaths(random, nodes), ...outages(random), ...clockJumps(random)];
  const isLate = storeNames.some((name) => weathers[name].doneLate > 0);
  return { ...plan, events, lateMs: isLate ? doneLateMsMax + 1_000 : 500 };
}

type Random = World['random'];

function makeBad(weather: Weather, name: StoreName, random: Random): void {
  weather.failsBefore = random.pick([0, 5, 15, 30]);
  weather.failsAfter = random.pick([0, 5, 15, 30]);
  // A catalog in a thread of the process does nothing once its caller was told that it failed.
  weather.doneLate = name === 'catalog' ? 0 : random.pick([0, 0, 5, 15]);
  weather.damages = random.pick([0, 0, 10, 30]);
  weather.delayMs = random.pick([3, 30, 150, 500]);
}

function deaths(random: Random, nodes: number): PlannedEvent[] {
  const events: PlannedEvent[] = [];
  for (let n = random.pick([0, 1, 1, 2, 3]); n > 0; n--) {
    const at = random.between(50, healedAt - 1_500);
    const backAt = at + random.between(20, 1_500);
    const kind = random.percent(75) ? 'kill' : 'stop';
    events.push({ at, kind, node: random.below(nodes), backAt });
  }
  if (random.percent(30)) {
    const at = random.between(50, healedAt - 1_000);
    // Longer than a lease, or not.
    const until = Math.min(at + random.between(100, 5_500), healedAt);
    events.push({ at, kind: 'stand still', node: random.below(nodes), until });
  }
  return events;
}

/** Stores go away one after another, and come back in another order. */
function outages(random: Random): PlannedEvent[] {
  const events: PlannedEvent[] = [];
  for (const store of storeNames) {
    if (!random.percent(25)) continue;
    const at = random.between(50, healedAt - 1_500);
    const back = random.between(at + 50, healedAt);
    events.push({ at, kind: 'down', store }, { at: back, kind: 'up', store });
  }
  return events;
}

const minuteMs = 60_000;
const yearMs = 365 * 24 * 60 * minuteMs;

/** The system's clock is set forward and back, by a quarter of an hour or to 2038. */
function clockJumps(random: Random): PlannedEvent[] {
  if (!random.percent(15)) return [];
  return Array.from({ length: random.between(1, 3) }, () => ({
    ...{ at: random.between(50, healedAt), kind: 'clock' as const },
    skewMs: random.pick([0, 15 * minuteMs, -15 * minuteMs, 12 * yearMs]),
  }));
}

/** From now on nothing fails any more, and nobody stands still. */
export function heal(weathers: Weathers): void {
  const fair = fairWeathers();
  for (const name of [...storeNames, 'threads'] as const) {
    Object.assign(weathers[name], fair[name]);
  }
  weathers.deaths.left = 0;
}
