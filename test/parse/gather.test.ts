import { expect, test } from 'vitest';
import { Gather } from '../../src/parse/gather.ts';

test('a lone call leaves at once; what comes meanwhile leaves together', async () => {
  const groups: number[][] = [];
  const gather = new Gather<number, number>(async (group) => {
    groups.push(group);
    await Promise.resolve();
    return group.map((n) => 10 * n);
  });
  const answers = await Promise.all([1, 2, 3, 4].map((n) => gather.add(n)));
  expect(answers).toEqual([10, 20, 30, 40]);
  expect(groups).toEqual([[1], [2, 3, 4]]);
});

test('a failed group rejects its own calls only', async () => {
  const gather = new Gather<number, number>(async (group) => {
    if (group.includes(1)) throw new Error('no');
    return group;
  });
  const results = await Promise.allSettled([gather.add(1), gather.add(2)]);
  expect(results.map((one) => one.status)).toEqual(['rejected', 'fulfilled']);
  await gather.add(3);
});
