import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { readSeries } from '../../domain/api/app/samples.ts';

export type SeriesAnswer = AnswerOf<typeof readSeries>;
export type SeriesOfChart = SeriesAnswer['series'][number];

/**
 * A value at an instant. Undefined: this line has none there, and goes on to its next. Null: a gap,
 * the line breaks off.
 */
export type Cell = number | null | undefined;

export interface ChartData {
  /** Seconds since 1970, ascending: of all lines together. */
  readonly at: readonly number[];
  /** For each line. */
  readonly lines: readonly {
    readonly last: readonly Cell[];
    readonly min: readonly Cell[];
    readonly max: readonly Cell[];
    /** Which of its points it is. */
    readonly point: readonly (number | undefined)[];
  }[];
  /** Some point stands for several samples. */
  readonly banded: boolean;
}

/** A step so much longer than the usual one of its line has lost a sample. */
const gapSteps = 1.6;

/** Puts lines side by side, and finds where samples are missing. */
export function chartData(series: readonly SeriesOfChart[]): ChartData {
  const lines = series.map(lineOf);
  const at = [...new Set(lines.flatMap(({ points, gaps }) => [...points.keys(), ...gaps]))];
  at.sort((a, b) => a - b);
  const banded = series.some(({ points }) => points.samples.some((many) => many > 1));
  return {
    ...{ at, banded },
    lines: lines.map(({ points, gaps, columns }) => {
      const rows = at.map((x) => points.get(x) ?? (gaps.has(x) ? null : undefined));
      const column = (values: readonly number[]): Cell[] =>
        rows.map((row) => (typeof row === 'number' ? values[row] : row));
      return {
        ...{ last: column(columns.last), min: column(columns.min), max: column(columns.max) },
        point: rows.map((row) => row ?? undefined),
      };
    }),
  };
}

/** Places of the points by their instants, and instants at which a sample is missing. */
function lineOf({ points: columns }: SeriesOfChart) {
  const at = columns.last_day.map((day) => Date.parse(`${day}T00:00:00Z`) / 1_000);
  const points = new Map(at.map((x, i) => [x, i]));
  const steps = at.slice(1).map((x, i) => x - at[i]!);
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  const gaps = new Set<number>();
  for (const [i, step] of steps.entries()) {
    const missing = at[i]! + usual;
    if (step > gapSteps * usual && !points.has(missing)) gaps.add(missing);
  }
  return { points, gaps, columns };
}

/** The chart in one sentence, for who does not see it. */
export function chartTold(answer: SeriesAnswer, metric: string): string {
  const { series } = answer;
  const days = series.flatMap(({ points }) => [points.first_day[0]!, points.last_day.at(-1)!]);
  if (days.length === 0) return `Nothing of ${metric} is in this window.`;
  days.sort();
  const values = series.flatMap(({ points }) => [...points.min, ...points.max]);
  const [low, high] = [values.reduce(least), values.reduce(greatest)];
  const lines = series.length === 1 ? 'one line' : `${series.length} lines`;
  return (
    `Chart of ${metric}: ${lines} from ${days[0]} to ${days.at(-1)}, ` +
    `values from ${low} to ${high}.`
  );
}

const least = (a: number, b: number) => Math.min(a, b);
const greatest = (a: number, b: number) => Math.max(a, b);
