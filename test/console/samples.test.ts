import { expect, test } from 'vitest';
import { chartData, chartTold, type SeriesOfChart } from '../../src/console/samples/chart-data.ts';
import {
  asQuery,
  everyMetric,
  filterIn,
  pageAddress,
  traceAddress,
} from '../../src/console/samples/filter.ts';
import { chainTold, type TraceAnswer } from '../../src/console/samples/trace-words.ts';

function line(days: readonly string[], last: readonly number[]): SeriesOfChart {
  const columns = { first_day: [...days], last_day: [...days], last: [...last] };
  const same = { min: [...last], max: [...last], samples: days.map(() => 1) };
  return { labels: {}, sandbox: false, points: { ...columns, ...same } };
}

const seconds = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1_000;

test('a line of months breaks off where months are missing, and nowhere else', () => {
  const months = ['2025-01-01', '2025-02-01', '2025-03-01', '2025-04-01', '2025-08-01'];
  const { at, lines } = chartData([line(months, [1, 2, 3, 4, 8])]);
  expect(lines[0]!.last).toEqual([1, 2, 3, 4, null, 8]);
  expect([at[0], at.at(-1)]).toEqual([seconds('2025-01-01'), seconds('2025-08-01')]);
  expect([...at]).toEqual([...at].sort((a, b) => a - b));
  expect(lines[0]!.point).toEqual([0, 1, 2, 3, undefined, 4]);
});

test('a line goes on over days that only another line has', () => {
  const days = ['2025-01-01', '2025-01-02', '2025-01-03', '2025-01-04'];
  const { lines } = chartData([
    line(days, [1, 2, 3, 4]),
    line(['2025-01-01', '2025-01-03'], [10, 30]),
    line(['2025-01-02'], [7]),
  ]);
  expect(lines.map(({ last }) => last)).toEqual([
    [1, 2, 3, 4],
    [10, undefined, 30, undefined],
    [undefined, 7, undefined, undefined],
  ]);
});

test('a chart is told in one sentence', () => {
  const series = [line(['2025-01-01', '2025-01-02'], [3, -1]), line(['2025-02-01'], [12.5])];
  expect(chartTold({ series, bucket_days: 1, total: 2 }, 'mrr')).toBe(
    'Chart of mrr: 2 lines from 2025-01-01 to 2025-02-01, values from -1 to 12.5.',
  );
  expect(chartTold({ series: [], bucket_days: 1, total: 0 }, 'mrr')).toBe(
    'Nothing of mrr is in this window.',
  );
});

test('a filter survives its way through the address, and a change begins at the newest', () => {
  const labels = { plan: 'a&b="c"', place: '' };
  const filter = { ...filterIn({}), metric: 'mrr', from: '2025-01-01', labels, sandbox: true };
  const read = (address: string) =>
    filterIn(Object.fromEntries(new URL(address, 'http://x').searchParams));
  expect(read(pageAddress('s', filter))).toEqual(filter);
  expect(read(pageAddress('s', { ...filter, after: 'x' }, { to: '2025-02-01' }))).toEqual({
    ...{ ...filter, to: '2025-02-01' },
  });
  expect(asQuery({ ...filter, metric: everyMetric }).metric).toBeUndefined();
  expect(filterIn({ labels: 'no JSON' }).labels).toEqual({});
  const sample = { metric: 'mrr', period_start: '2025-01-01', labels, sandbox: false };
  const { searchParams } = new URL(traceAddress('s', sample), 'http://x');
  expect(Object.fromEntries(searchParams)).toEqual({
    ...{ metric: 'mrr', period: '2025-01-01', labels: JSON.stringify(labels) },
  });
});

test('the chain of a value is one sentence', () => {
  const earlier = ['1', '2', '3', '4', '5'].map((value) => {
    return { value, artifact_id: value, received_at: '', record: 1 };
  });
  const trace = {
    sample: { metric: 'mrr', period_start: '2025-01-01', value: '10.50', labels: { plan: 'pro' } },
    delivery: { delivery: 'document', idempotency_keys: ['january.csv'] },
    ...{ record: 3, line: 4, byte_range: { from: 40, to: 62 }, superseded: earlier },
  } as unknown as TraceAnswer;
  expect(chainTold(trace, 'today')).toBe(
    'The value 10.50 of mrr of the period from 2025-01-01 (plan pro) stands in record 3 ' +
      '(line 4, bytes 40 to 61) of the document named january.csv received today; ' +
      'it took the place of 1, 2, 3 and 2 more.',
  );
  const bare = { ...trace, line: null, byte_range: null, superseded: [] };
  expect(chainTold(bare, 'today')).toMatch(/in record 3 of .*; no other value was there before\.$/);
});
