import type { Random } from './random.ts';
import type { Trace } from './trace.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** What may happen to a call on its way to something outside of the process. */
export interface Weather {
  /** It is away: every call fails, and nothing happens. */
  down: boolean;
  /** Of 100 calls, how many fail before they did anything. */
  failsBefore: number;
  /** How many are done, and their answer is lost. */
  failsAfter: number;
  /** How many fail for their caller and are done later all the same. */
  doneLate: number;
  /** How many reads bring a byte that is another. */
  damages: number;
  /** The longest that a call takes each way, in milliseconds. */
  delayMs: number;
}

export function fairWeather(delayMs = 3): Weather {
  return { down: false, failsBefore: 0, failsAfter: 0, doneLate: 0, damages: 0, delayMs };
}

/** The longest that something is done after its caller was told that it failed. */
export const doneLateMsMax = 4_000;

/** The process that made the call is gone; its memory may still put something away. */
export class ProcessGone extends Error {
  override readonly name = 'ProcessGone';
}

/** Who makes calls: a process with what it waits for. */
export interface Caller extends Owner {
  readonly name: string;
  /** A call of it failed after which an object may be left over, or it was killed. */
  isTroubled: boolean;
  /** Ends the waiting for answers that will not come. */
  readonly waiting: Set<(error: Error) => void>;
}

export interface World {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly trace: Trace;
}

export interface Call<T> {
  readonly name: string;
  readonly weather: Weather;
  /** What it does; it is done at one moment, between two events. */
  effect(): T | Promise<T>;
  /** The error of a call that failed on its way. */
  away(why: Fate): Error;
  /** Done within the caller's process: it dies and stands still with it. */
  readonly inside?: boolean;
  /** When it fails, an object that nobody refers to may be left over. */
  readonly leavesOver?: boolean;
  /** What is done when it fails half way; otherwise it is all or nothing. */
  readonly half?: () => void;
}

/**
 * Makes one call: a while to get there, the effect at one moment, a while for the answer. Its
 * fate is that of the weather. A caller that dies gets no answer; what was sent may still be done.
 */
export function callOutside<T>(world: World, caller: Caller, call: Call<T>): Promise<T> {
  const { time, random, trace } = world;
  if (!caller.alive) return Promise.reject(new ProcessGone('the process is gone'));
  return new Promise((resolve, reject) => {
    const { weather, inside = false } = call;
    const tell = answering(world, caller, reject);
    const fate = fateOf(weather, random);
    if (call.leavesOver && fate !== 'good') caller.isTroubled = true;
    const there = random.below(weather.delayMs + 1);
    const name = `${caller.name} ${call.name}`;
    trace.add(time.now, `${name} ${fate}`);
    const fail = (why: Fate) => tell(back, () => reject(call.away(why)));
    const back = there + random.below(weather.delayMs + 1);
    if (fate === 'away' || fate === 'fails before') {
      if (fate === 'fails before' && call.half && random.percent(50)) call.half();
      return fail(fate);
    }
    // What was sent is on its way; a process that dies before it sent it did nothing.
    const owner = inside || random.percent(50) ? caller : null;
    const late = fate === 'done late' ? there + random.below(doneLateMsMax) : there;
    if (fate === 'done late') fail(fate);
    time.after(late, owner, () => {
      const done = Promise.resolve().then(() => call.effect());
      done.then(
        (value) => {
          trace.add(time.now, `${name} done`);
          if (fate === 'fails after') fail(fate);
          else if (fate === 'good') tell(back - there, () => resolve(value));
        },
        (error: unknown) => fate !== 'done late' && tell(back - there, () => reject(error)),
      );
    });
  });
}

/** The answer reaches a caller that lives, and once. */
function answering({ time }: World, caller: Caller, reject: (error: Error) => void) {
  caller.waiting.add(reject);
  return (ms: number, settle: () => void) => {
    time.after(ms, caller, () => {
      caller.waiting.delete(reject);
      settle();
    });
  };
}

export type Fate = 'good' | 'away' | 'fails before' | 'fails after' | 'done late';

function fateOf(weather: Weather, random: Random): Fate {
  const roll = random.below(100);
  if (weather.down) return 'away';
  const { failsBefore, failsAfter, doneLate } = weather;
  if (roll < failsBefore) return 'fails before';
  if (roll < failsBefore + failsAfter) return 'fails after';
  return roll < failsBefore + failsAfter + doneLate ? 'done late' : 'good';
}
