import { expect, test } from 'vitest';
import { memoryRates } from '../../src/rates/memory.ts';

const rule = { perMinute: 60, burst: 2 };

test('buckets of different names do not share tokens', async () => {
  const rates = memoryRates(() => 0);
  await rates.take('a', rule);
  await rates.take('a', rule);
  expect((await rates.take('a', rule)).admitted).toBe(false);
  expect((await rates.take('b', rule)).admitted).toBe(true);
});

test('a million names that came once are forgotten, one that is used up is not', async () => {
  let now = 0;
  const rates = memoryRates(() => now);
  await rates.take('used', rule);
  await rates.take('used', rule);
  for (let i = 0; i < 30_000; i += 1) {
    now = i < 29_000 ? 0 : 100;
    await rates.take(`name-${i}`, rule);
  }
  expect((await rates.take('used', rule)).admitted).toBe(false);
});
