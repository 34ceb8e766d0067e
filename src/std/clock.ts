/** Milliseconds since 1970, as `Date.now()`; handed in wherever a rule depends on the time. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/**
 * Whole milliseconds since the process began: for how long something took or still waits. Nobody
 * sets it, while the system's clock may be put forward or back.
 */
export const monotonicClock: Clock = () => Math.floor(performance.now());
