import type { Field } from '../../domain/nouns.ts';
import { cells, dataFile, unemploymentFile, unemploymentRecords } from './data-files.ts';

/** A number that the demo expects to read back, computed straight from the data file. */
export interface Expected {
  readonly metric: string;
  readonly period: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** One real series, ready to be sent. */
export interface Series {
  readonly title: string;
  readonly delivery: 'document' | 'push' | 'webhook';
  readonly format: 'csv' | 'json';
  readonly fields: readonly Field[];
  readonly metrics: readonly { readonly key: string; readonly unit: string }[];
  readonly labels: readonly string[];
  readonly deliveries: readonly SeriesDelivery[];
  readonly expected: readonly Expected[];
}

export interface SeriesDelivery {
  /** Its idempotency key, or the webhook's delivery id. */
  readonly key: string;
  /** The bytes of a document or webhook, or the push's payload. */
  readonly body: Buffer | Readonly<Record<string, string>>;
  /** Corrects what an earlier one said. */
  readonly corrects: boolean;
}

/** The company's zone: the unemployment series gives its months as this zone's midnights. */
export const demoTimezone = 'America/Los_Angeles';

/** Employment in the USA: wide, monthly, one metric a column; three months are corrected. */
export function employment(): Series {
  const [header, ...rows] = cells('us-employment.csv');
  const metrics = header!.slice(1);
  const corrected = rows.slice(-3).map((row) => row.map((cell, i) => (i ? plusOne(cell) : cell)));
  const correction = [header!, ...corrected].map((row) => `${row.join(',')}\n`).join('');
  const final = [...rows.slice(0, -3), ...corrected];
  return {
    title: 'US employment',
    delivery: 'document',
    format: 'csv',
    fields: [
      { name: 'month', role: 'period', grain: 'month' },
      ...metrics.map((metric): Field => ({ name: metric, role: 'value', metric })),
    ],
    metrics: metrics.map((key) => ({ key, unit: 'thousand people' })),
    labels: [],
    deliveries: [
      { key: 'us-employment.csv', body: dataFile('us-employment.csv'), corrects: false },
      { key: 'correction', body: Buffer.from(correction), corrects: true },
    ],
    expected: final.flatMap(([period, ...values]) =>
      values.map((value, i) => ({ metric: metrics[i]!, period: period!, labels: {}, value })),
    ),
  };
}

/** A figure that nobody published, so that a correction can be told from the original. */
function plusOne(cell: string): string {
  return cell.includes('.') ? `${cell}1` : String(Number(cell) + 1);
}

/** Daily weather of two places: long in days, with a location label. */
export function weather(): Series {
  const [header, ...rows] = cells('weather.csv');
  const metrics = ['precipitation', 'temp_max', 'temp_min', 'wind'];
  const at = (name: string) => header!.indexOf(name);
  return {
    title: 'Weather of Seattle and New York',
    delivery: 'document',
    format: 'csv',
    fields: [
      { name: 'date', role: 'period', grain: 'day' },
      { name: 'location', role: 'label' },
      ...metrics.map((metric): Field => ({ name: metric, role: 'value', metric })),
      { name: 'weather' },
    ],
    metrics: metrics.map((key) => ({ key, unit: key.startsWith('temp') ? '°C' : 'mm or m/s' })),
    labels: ['location'],
    deliveries: [{ key: 'weather.csv', body: dataFile('weather.csv'), corrects: false }],
    expected: rows.flatMap((row) =>
      metrics.map((metric) => ({
        metric,
        period: row[at('date')]!,
        labels: { location: row[at('location')]! },
        value: row[at(metric)]!,
      })),
    ),
  };
}

/** Unemployment by industry: JSON with numbers, and date-times that are the zone's midnights. */
export function unemployment(): Series {
  return {
    title: 'Unemployment across industries',
    delivery: 'document',
    format: 'json',
    fields: [
      { name: 'series', role: 'label', label: 'industry' },
      { name: 'date', role: 'period', grain: 'month' },
      { name: 'count', role: 'value', metric: 'unemployed' },
      { name: 'rate', role: 'value', metric: 'unemployment_rate' },
      { name: 'year' },
      { name: 'month' },
    ],
    metrics: [
      { key: 'unemployed', unit: 'thousand people' },
      { key: 'unemployment_rate', unit: 'percent' },
    ],
    labels: ['industry'],
    deliveries: [{ key: unemploymentFile, body: dataFile(unemploymentFile), corrects: false }],
    expected: unemploymentRecords().flatMap(({ industry, month, count, rate }) => {
      const of = { period: `${month}-01`, labels: { industry } };
      return [
        { ...of, metric: 'unemployed', value: count },
        { ...of, metric: 'unemployment_rate', value: rate },
      ];
    }),
  };
}

/** The first months of 2015 as JSON pushes, the last of them corrected by another push. */
export function pushedMonths(): Series {
  const [header, ...rows] = cells('us-employment.csv');
  const column = header!.indexOf('manufacturing');
  const months = rows
    .filter(([month]) => month! >= '2015-01' && month! < '2015-07')
    .map((row) => ({ month: row[0]!.slice(0, 7), manufacturing_pushed: row[column]! }));
  const last = months.at(-1)!;
  const corrected = { ...last, manufacturing_pushed: plusOne(last.manufacturing_pushed) };
  return {
    title: 'Manufacturing jobs, pushed',
    delivery: 'push',
    format: 'csv',
    fields: [
      { name: 'month', role: 'period', grain: 'month' },
      { name: 'manufacturing_pushed', role: 'value', metric: 'manufacturing_pushed' },
    ],
    metrics: [{ key: 'manufacturing_pushed', unit: 'thousand people' }],
    labels: [],
    deliveries: [
      ...months.map((body) => ({ key: `month-${body.month}`, body, corrects: false })),
      { key: `month-${last.month}-corrected`, body: corrected, corrects: true },
    ],
    expected: [...months.slice(0, -1), corrected].map((body) => ({
      metric: 'manufacturing_pushed',
      period: `${body.month}-01`,
      labels: {},
      value: body.manufacturing_pushed,
    })),
  };
}

/** The air's CO2 since 2016: a signed webhook for each year, with numbers as numbers. */
export function carbonDioxide(): Series {
  const rows = cells('co2-concentration.csv').filter(([month]) => /^20(1[6-9]|2)/.test(month!));
  const years = [...new Set(rows.map(([month]) => month!.slice(0, 4)))];
  // Written by hand: a number that went through a float might lose its last zero.
  const record = ([month, measured, adjusted]: string[]) =>
    `{"month":"${month}","measured":${measured},"adjusted":${adjusted}}`;
  const bodyOf = (year: string) => {
    const records = rows.filter(([month]) => month!.startsWith(year)).map(record);
    return Buffer.from(`[${records.join(',\n')}]\n`);
  };
  return {
    title: 'CO2 in the air, at Mauna Loa',
    delivery: 'webhook',
    format: 'json',
    fields: [
      { name: 'month', role: 'period', grain: 'month' },
      { name: 'measured', role: 'value', metric: 'co2' },
      { name: 'adjusted', role: 'value', metric: 'co2_adjusted' },
    ],
    metrics: ['co2', 'co2_adjusted'].map((key) => ({ key, unit: 'ppm' })),
    labels: [],
    deliveries: years.map((year) => ({ key: `co2-${year}`, body: bodyOf(year), corrects: false })),
    expected: rows.flatMap(([period, measured, adjusted]) => [
      { metric: 'co2', period: period!, labels: {}, value: measured! },
      { metric: 'co2_adjusted', period: period!, labels: {}, value: adjusted! },
    ]),
  };
}
