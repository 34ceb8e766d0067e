import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { openExplorer } from '../../src/samples/explore.ts';
import type { PlacedSample, SampleExplorer } from '../../src/samples/explore-contract.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { canonical, dayOf, encode, freshEngine, read, samplesOnly } from './support.ts';

/** Labels that text of every kind stands in, one that looks like another's name among them. */
const odd = { 'x"place': 'A', note: `a"b\\c'd\te\u2028f/g 😀` };
const [a, b] = [{ place: 'A' }, { place: 'B' }];
const first = dayOf('2025-01-01');
const artifactId = randomUUID();
const sourceId = randomUUID();
const other = randomUUID();

let store: SampleStore;
let explorer: SampleExplorer;
let remove: () => Promise<void>;
beforeAll(async () => {
  const started = await freshEngine();
  store = openSamples(started.engine.address);
  await store.prepare();
  explorer = openExplorer(started.engine.address);
  remove = started.remove;
  const days = [0, 1, 2, 5];
  const samples = days.flatMap((day) => [
    { day: first + day, labels: a, value: `${day}.50` },
    { day: first + day, labels: b, value: `-${day}` },
  ]);
  const visits = [{ day: first - 40_000, metric: 'visits', labels: odd, value: '7' }];
  const given = { sourceId, artifactId };
  await store.insert(samplesOnly(encode({ ...given, sequence: 1, samples })));
  await store.insert(samplesOnly(encode({ ...given, sequence: 2, samples: visits })));
  const corrected = [{ day: first + 1, labels: a, value: '1234567890123456789.10' }];
  await store.insert(samplesOnly(encode({ ...given, sequence: 3, samples: corrected })));
  const sandbox = { ...given, sequence: 4, sandbox: true };
  await store.insert(samplesOnly(encode({ ...sandbox, samples: corrected })));
  const elsewhere = { sourceId: other, sequence: 5, samples };
  await store.insert(samplesOnly(encode(elsewhere)));
});
afterAll(async () => {
  await explorer.close();
  await store.close();
  await remove();
});

const all = { sourceId, labels: {}, sandbox: true };

/** Read by pages of two. */
async function paged(filter: Parameters<SampleExplorer['page']>[0]): Promise<PlacedSample[]> {
  const found: PlacedSample[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await explorer.page(filter, { limit: 2, ...(after && { after }) });
    found.push(...page);
    if (page.length < 2) return found;
  }
}

describe('pages', () => {
  test('have the order and the values of the API, each sample once, to the end', async () => {
    const found = await paged(all);
    const answer = await read(store, { sourceId });
    expect(found.map(({ day, value, labelsJson }) => [day, value, JSON.parse(labelsJson)])).toEqual(
      answer.map((sample) => [dayOf(sample.period_start), sample.value, sample.labels]),
    );
    expect(found).toHaveLength(10);
    expect(found.filter(({ value }) => value === '1234567890123456789.10')).toHaveLength(2);
    expect(found.at(-1)).toEqual({
      ...{ day: first - 40_000, metric: 'visits', labelsJson: canonical(odd), sandbox: false },
      ...{ value: '7', artifactId },
    });
  });

  test('hold what a filter leaves', async () => {
    const some = { ...all, sandbox: false, metrics: ['revenue'], labels: a };
    const days = (found: readonly PlacedSample[]) => found.map(({ day }) => day - first);
    expect(days(await paged(some))).toEqual([5, 2, 1, 0]);
    expect(days(await paged({ ...some, fromDay: first + 1, toDay: first + 5 }))).toEqual([2, 1]);
    expect(await paged({ ...some, metrics: ['visits'] })).toEqual([]);
    expect(await paged({ ...some, labels: { place: '' } })).toEqual([]);
    const [only] = await paged({ ...all, labels: odd });
    expect(only).toMatchObject({ metric: 'visits', labelsJson: canonical(odd) });
  });
});

describe('series', () => {
  const query = { filter: { ...all, metrics: ['revenue'] }, seriesMax: 10, pointsMax: 800 };

  test('have a point for each day, corrections in place and the sandbox by itself', async () => {
    const { bucketDays, series, total } = await explorer.series(query);
    expect([bucketDays, total]).toEqual([1, 3]);
    expect(series.map(({ labelsJson, sandbox }) => [labelsJson, sandbox])).toEqual([
      ...[[canonical(a), false] as const, [canonical(a), true] as const],
      [canonical(b), false],
    ]);
    const values = series.map(({ points }) => points.map(({ last }) => last));
    expect(values).toEqual([
      [0.5, 1234567890123456800, 2.5, 5.5],
      [1234567890123456800],
      [-0, -1, -2, -5],
    ]);
    const none = await explorer.series({ ...query, filter: { ...query.filter, metrics: ['x'] } });
    expect(none).toEqual({ bucketDays: 1, series: [], total: 0 });
  });

  test('put days together where there are many, and say how many sets there are', async () => {
    const filter = { ...query.filter, sandbox: false };
    const found = await explorer.series({ filter, seriesMax: 1, pointsMax: 2 });
    expect(found).toEqual({
      ...{ bucketDays: 3, total: 2 },
      series: [
        {
          ...{ labelsJson: canonical(a), sandbox: false },
          points: [
            {
              ...{ firstDay: first, lastDay: first + 2, samples: 3 },
              ...{ min: 0.5, max: 1234567890123456800, last: 2.5 },
            },
            { firstDay: first + 5, lastDay: first + 5, samples: 1, min: 5.5, max: 5.5, last: 5.5 },
          ],
        },
      ],
    });
  });
});

test('what there is to choose from is told by metric', async () => {
  const old = first - 40_000;
  expect(await explorer.metrics(sourceId)).toEqual([
    { metric: 'revenue', hasSandbox: true, firstDay: first, lastDay: first + 5 },
    { metric: 'visits', hasSandbox: false, firstDay: old, lastDay: old },
  ]);
  expect(await explorer.labelSets(sourceId, 'revenue', 5)).toEqual([canonical(a), canonical(b)]);
  expect(await explorer.labelSets(sourceId, 'revenue', 1)).toEqual([canonical(a)]);
  expect(await explorer.metrics(randomUUID())).toEqual([]);
});
