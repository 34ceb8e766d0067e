/** Milliseconds since 1970, as `Date.now()`; handed in wherever a rule depends on the time. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
