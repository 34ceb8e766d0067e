import { expect, test } from 'vitest';
import { newestSamples } from '../../bench/world/history.ts';
import { runTiny } from './support.ts';

test.each(['embedded', 'reads'] as const)(
  '%s: the cases run, and their answers are right',
  runTiny,
  120_000,
);

test('what a read must answer is the newest first, then by metric and labels', () => {
  const history = { sourceId: 'any', series: 34, days: 3 };
  const found = newestSamples(history, 40);
  expect(found).toHaveLength(40);
  const days = [...new Set(found.map((sample) => sample.period_start))];
  expect(days).toEqual([...days].sort().reverse());
  expect(found.slice(0, 34).map(({ metric }) => metric)).toEqual([
    ...Array(17).fill('revenue'),
    ...Array(17).fill('visits'),
  ]);
  expect(found[0]).toMatchObject({ labels: { device: 'device-00', place: 'place-0000' } });
  expect(found[1]).toMatchObject({ labels: { device: 'device-00', place: 'place-0001' } });
});
