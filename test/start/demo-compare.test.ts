import { describe, expect, test } from 'vitest';
import type { ReadAnswer, ReadSample } from '../../src/start/demo/client.ts';
import { compare } from '../../src/start/demo/compare.ts';
import type { Expected } from '../../src/start/demo/series.ts';

const inFile: readonly Expected[] = [
  { metric: 'rain', period: '2014-12-01', labels: { place: 'Rome' }, value: '10.50' },
  { metric: 'rain', period: '2015-01-01', labels: { place: 'Rome' }, value: '7' },
  { metric: 'rain', period: '2015-01-01', labels: { place: 'Oslo' }, value: '-1' },
];

const asRead = inFile.map(({ metric, period, labels, value }): ReadSample => {
  return { metric, period_start: period, labels, value, artifact_id: 'any' };
});

/** A service that has these samples; it answers as weir does, newest first. */
function client(samples: readonly ReadSample[], truncated = false) {
  return {
    async samples(from: string, to: string): Promise<ReadAnswer> {
      const found = samples.filter((one) => one.period_start >= from && one.period_start < to);
      return { window: { from, to, narrowed: false }, samples: found.reverse(), truncated };
    },
  };
}

/** How many differences end the demo with exit code 1, instead of 0. */
async function differences(samples: readonly ReadSample[]): Promise<number> {
  const series = { deliveries: [], expected: inFile };
  return (await compare(client(samples), series)).differences;
}

describe("the demo's comparison", () => {
  test('finds nothing when every number is the one in the file', async () => {
    expect(await differences(asRead)).toBe(0);
  });

  test('shows the newest sample, and the sums of both sides', async () => {
    const { lines } = await compare(client(asRead), { deliveries: [], expected: inFile });
    expect(lines).toEqual([
      'window 2015-01-01 to 2016-01-01: 2 samples, newest first: rain 2015-01-01 = -1',
      'read back: 3 samples of 2 years, sum 16.50; in the file: 3, sum 16.50; 0 differ',
    ]);
  });

  test.each<[string, (all: ReadSample[]) => ReadSample[], number]>([
    ['another number', ([first, ...rest]) => [{ ...first!, value: '10.51' }, ...rest], 1],
    ['the same number written otherwise', ([a, ...b]) => [{ ...a!, value: '10.5' }, ...b], 1],
    ['a missing sample', ([, ...rest]) => rest, 2],
    ['nothing at all', () => [], 6],
    ['a sample too many', (all) => [...all, { ...all[0]!, labels: { place: 'Bonn' } }], 1],
    ['a sample that stands twice', (all) => [...all, all[2]!], 1],
    ['another metric', ([first, ...rest]) => [{ ...first!, metric: 'snow' }, ...rest], 1],
    ['other labels', ([first, ...rest]) => [{ ...first!, labels: {} }, ...rest], 1],
    ['another month', ([a, ...b]) => [{ ...a!, period_start: '2014-11-01' }, ...b], 1],
  ])('finds %s', async (_, change, expected) => {
    expect(await differences(change([...asRead]))).toBe(expected);
  });

  test('fails rather than compare an answer that was cut', async () => {
    const cut = compare(client(asRead, true), { deliveries: [], expected: inFile });
    await expect(cut).rejects.toThrow('does not fit one answer');
  });
});
