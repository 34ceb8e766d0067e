/**
 * Whether a computation takes the same time for two classes of input (after Reparaz, Balasch and
 * Verbauwhede, "Dude, is my code constant time?"): the classes come interleaved in random order,
 * what the machine disturbed is cropped, and Welch's t says how far the means lie apart.
 */

/** An input of a class, one of several, so that no class has its own memory. */
export interface Classes<Input> {
  readonly one: readonly Input[];
  readonly other: readonly Input[];
}

/**
 * So much of all measurements is kept, the fastest: the rest the machine disturbed. Where classes
 * lie far apart the fastest are all of one class, and a larger part tells.
 */
const keptParts = [0.25, 0.5, 0.8, 0.95];
const keptMin = 1_000;

/**
 * @param prepare makes the computation for an input; only that is timed
 * @returns of one round with so many measurements: Welch's t, the largest over the croppings
 */
export async function welchT<Input>(
  classes: Classes<Input>,
  prepare: (input: Input) => () => unknown,
  measurements: number,
): Promise<number> {
  const isOne = Array.from({ length: measurements }, () => Math.random() < 0.5);
  const times = new Float64Array(measurements);
  for (let i = 0; i < measurements; i++) {
    const inputs = isOne[i] ? classes.one : classes.other;
    const compute = prepare(inputs[i % inputs.length]!);
    const started = process.hrtime.bigint();
    const result = compute();
    if (result instanceof Promise) await result;
    times[i] = Number(process.hrtime.bigint() - started);
  }
  const sorted = [...times].sort((a, b) => a - b);
  const found = keptParts.map((part) => {
    const limit = sorted[Math.floor(measurements * part)]!;
    const [one, other]: [number[], number[]] = [[], []];
    // The first tenth warms up.
    for (let i = Math.floor(measurements / 10); i < measurements; i++) {
      if (times[i]! <= limit) (isOne[i] ? one : other).push(times[i]!);
    }
    if (Math.min(one.length, other.length) < keptMin) return 0;
    const [a, b] = [moments(one), moments(other)];
    const spread = Math.sqrt(a.variance / one.length + b.variance / other.length);
    return Math.abs(a.mean - b.mean) / spread;
  });
  return Math.max(...found);
}

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}
