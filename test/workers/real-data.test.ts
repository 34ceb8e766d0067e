import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { sumDecimals } from '../../src/domain/decimals.ts';
import type { Field, Metric } from '../../src/domain/nouns.ts';
import { parsed, type SampleRow } from './some-delivery.ts';

// The package exports no way to its data files.
const dataDir = new URL('../../node_modules/vega-datasets/data/', import.meta.url);
const load = (name: string) => readFileSync(new URL(name, dataDir));

function metrics(keys: readonly string[], labels: string[]): Metric[] {
  return keys.map((key) => ({ key, name: key, unit: 'x', labels }));
}

function values(keys: readonly string[]): Field[] {
  return keys.map((key) => ({ name: key, role: 'value', metric: key }));
}

/** The sum of each metric's samples. */
function sums(samples: readonly SampleRow[], keys: readonly string[]): Record<string, string> {
  const of = (key: string) => samples.filter(({ metric }) => metric === key);
  return Object.fromEntries(keys.map((key) => [key, sumDecimals(of(key).map((s) => s.value))]));
}

/** The same sum in another way: whole tenths, which floats hold exactly. */
function tenths(texts: readonly (string | number)[]): number {
  return texts.reduce<number>((sum, text) => sum + Math.round(Number(text) * 10), 0);
}

function expectTenths(sum: string, texts: readonly (string | number)[]): void {
  const [whole, fraction = '0'] = sum.split('.');
  expect(fraction).toHaveLength(1);
  expect(Number(whole + fraction)).toBe(tenths(texts));
}

type Row = Record<string, string>;

describe('real series', () => {
  test('US employment, wide and monthly, gives every cell of the file', async () => {
    const body = load('us-employment.csv');
    const rows = parse(body, { columns: true }) as Row[];
    const keys = Object.keys(rows[0]!).filter((name) => name !== 'month');
    const { status, counts, samples, rejections } = await parsed(body, {
      fields: [{ name: 'month', role: 'period', grain: 'month' }, ...values(keys)],
      metrics: metrics(keys, []),
      timezone: 'America/New_York',
    });
    expect({ status, rejections }).toEqual({ status: 'parsed', rejections: [] });
    expect(counts.records).toBe(rows.length);
    expect(counts.samples + counts.blank).toBe(rows.length * keys.length);
    const expected = rows.flatMap((row) => keys.map((key) => `${row.month} ${key} ${row[key]}`));
    expect(samples.map((s) => `${s.day} ${s.metric} ${s.value}`)).toEqual(expected);
    for (const [key, sum] of Object.entries(sums(samples, keys))) {
      expectTenths(
        sum,
        rows.map((row) => row[key]!),
      );
    }
  });

  test('weather, daily with a location label, gives every cell of the file', async () => {
    const body = load('weather.csv');
    const rows = parse(body, { columns: true }) as Row[];
    const keys = ['precipitation', 'temp_max', 'temp_min', 'wind'];
    const { status, counts, samples, undeclaredFields } = await parsed(body, {
      fields: [
        { name: 'date', role: 'period' },
        { name: 'location', role: 'label' },
        ...values(keys),
      ],
      metrics: metrics(keys, ['location']),
      timezone: 'America/Los_Angeles',
    });
    expect({ status, undeclaredFields }).toEqual({
      status: 'parsed',
      undeclaredFields: ['weather'],
    });
    expect(counts).toMatchObject({ records: rows.length, samples: 4 * rows.length, blank: 0 });
    for (const location of new Set(rows.map((row) => row.location))) {
      const there = samples.filter(({ labels }) => labels === JSON.stringify({ location }));
      const rowsThere = rows.filter((row) => row.location === location);
      for (const [key, sum] of Object.entries(sums(there, keys))) {
        expectTenths(
          sum,
          rowsThere.map((row) => row[key]!),
        );
      }
    }
  });

  test('unemployment, with date-times, lands on the months of its own columns', async () => {
    const body = load('unemployment-across-industries.json');
    const rows = JSON.parse(body.toString()) as {
      series: string;
      year: number;
      month: number;
      count: number;
      rate: number;
    }[];
    const keys = ['count', 'rate'];
    const { status, counts, samples } = await parsed(body, {
      format: 'json',
      fields: [
        { name: 'date', role: 'period', grain: 'month' },
        { name: 'series', role: 'label', label: 'industry' },
        ...values(keys),
      ],
      metrics: metrics(keys, ['industry']),
      // The file's instants are midnights there, so an hour of daylight saving would be seen.
      timezone: 'America/Los_Angeles',
    });
    expect(status).toBe('parsed');
    expect(counts).toMatchObject({ records: rows.length, samples: 2 * rows.length, blank: 0 });
    const expected = rows.flatMap(({ series, year, month, count, rate }) => {
      const head = `${year}-${String(month).padStart(2, '0')}-01 {"industry":"${series}"}`;
      return [`${head} ${count}`, `${head} ${rate}`];
    });
    expect(samples.map((s) => `${s.day} ${s.labels} ${s.value}`)).toEqual(expected);
    const { count, rate } = sums(samples, keys);
    expect(count).toBe(String(rows.reduce((sum, row) => sum + row.count, 0)));
    expectTenths(
      rate!,
      rows.map((row) => row.rate),
    );
  });
});
