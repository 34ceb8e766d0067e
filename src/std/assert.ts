/**
 * States what must hold; a failure is a defect in weir, never a caller's mistake.
 *
 * @throws Error `assertion failed: …`
 */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${what}`);
}

/** Marks a branch that the types say cannot be reached. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unreachable value ${JSON.stringify(value)}`);
}
