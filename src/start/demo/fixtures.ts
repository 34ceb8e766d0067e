import type { Field, Metric } from '../../domain/nouns.ts';
import { cells, unemploymentRecords } from './data-files.ts';

/**
 * The fixtures of a demo deployment: 24 months of two real series, US employment and unemployment
 * by industry. Their values are those of the data files; their dates are moved by whole years, so
 * that they end with the month in which the data directory was made. 24 months always lie inside
 * the 731 days of a read without parameters.
 */
export interface Fixtures {
  /** Of the source: says what was moved, and how far. */
  readonly title: string;
  readonly deliveries: readonly FixtureDelivery[];
}

export interface FixtureDelivery {
  readonly idempotencyKey: string;
  /** A CSV document of `fixtureFields`. */
  readonly body: Buffer;
}

/** Both series reach over it with 24 months before. */
const lastDataYear = 2009;
const monthsShown = 24;

/** Long records: employment has no label, unemployment an industry. */
export const fixtureFields: readonly Field[] = [
  { name: 'month', role: 'period', grain: 'month' },
  { name: 'metric', role: 'metric' },
  { name: 'industry', role: 'label' },
  { name: 'value', role: 'value' },
];

export function fixtureMetrics(): Metric[] {
  const [header] = cells('us-employment.csv');
  const named = (key: string, unit: string, labels: string[]): Metric => {
    return { key, name: key.replaceAll('_', ' '), unit, labels };
  };
  return [
    ...header!.slice(1).map((key) => named(key, 'thousand people', [])),
    named('unemployed', 'thousand people', ['industry']),
    named('unemployment_rate', 'percent', ['industry']),
  ];
}

/** @param madeAt when the data directory was made, milliseconds since 1970; its month is in UTC */
export function fixtures(madeAt: number): Fixtures {
  const made = new Date(madeAt);
  const years = made.getUTCFullYear() - lastDataYear;
  const last = 12 * lastDataYear + made.getUTCMonth();
  const first = last - monthsShown + 1;
  const line = (month: string, metric: string, industry: string, value: string): string[] => {
    const number = monthNumber(month);
    if (number < first || number > last) return [];
    return [`${monthText(number + 12 * years)},${metric},${industry},${value}\n`];
  };
  const [header, ...rows] = cells('us-employment.csv');
  const employment = rows.flatMap(([month, ...values]) =>
    values.flatMap((value, i) => line(month!, header![i + 1]!, '', value)),
  );
  const unemployment = unemploymentRecords().flatMap(({ month, industry, count, rate }) => [
    ...line(month, 'unemployed', industry, count),
    ...line(month, 'unemployment_rate', industry, rate),
  ]);
  const values = `values of ${monthText(first)} to ${monthText(last)}`;
  return {
    title: `US employment and unemployment (${values}, dates moved by ${years} years)`,
    deliveries: [
      { idempotencyKey: 'us-employment', body: document(employment) },
      { idempotencyKey: 'unemployment-across-industries', body: document(unemployment) },
    ],
  };
}

function document(lines: readonly string[]): Buffer {
  const header = fixtureFields.map((field) => field.name).join(',');
  return Buffer.from([`${header}\n`, ...lines].join(''));
}

/** Months since the year 0, of a text that begins `YYYY-MM`. */
function monthNumber(text: string): number {
  return 12 * Number(text.slice(0, 4)) + Number(text.slice(5, 7)) - 1;
}

function monthText(number: number): string {
  return `${Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, '0')}`;
}
