/** Numbers of [0, 1) that follow from a seed (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Between four fifths and six fifths of a time: nothing takes the same twice. */
export function jittered(random: Random, ms: number): number {
  return ms * (0.8 + 0.4 * random());
}

/** The wait for the next of events that come by chance, so many a millisecond on average. */
export function waitForNext(random: Random, perMs: number): number {
  return -Math.log(1 - random()) / perMs;
}
