import { expect, test } from 'vitest';
import { ByteBudget } from '../../src/http/byte-budget.ts';

test('what is free is given at once', async () => {
  const budget = new ByteBudget(100);
  await budget.take(60);
  await budget.take(40);
  expect(budget.bytesTaken).toBe(100);
});

test('who wants more than is left waits until it is released, in order of asking', async () => {
  const budget = new ByteBudget(100);
  const order: string[] = [];
  const first = await budget.take(80);
  const large = budget.take(90).then((release) => {
    order.push('large');
    release();
  });
  const small = budget.take(10).then((release) => {
    order.push('small');
    release();
  });
  await Promise.resolve();
  expect(order).toEqual([]);
  first();
  await Promise.all([large, small]);
  expect(order).toEqual(['large', 'small']);
  expect(budget.bytesTaken).toBe(0);
});

test('a release counts once', async () => {
  const budget = new ByteBudget(100);
  const release = await budget.take(50);
  release();
  release();
  expect(budget.bytesTaken).toBe(0);
});

test('who gives up leaves the line, and those behind move up', async () => {
  const budget = new ByteBudget(100);
  const held = await budget.take(50);
  const giving = new AbortController();
  const gone = budget.take(100, giving.signal);
  const behind = budget.take(50);
  giving.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  await behind;
  expect(budget.bytesTaken).toBe(100);
  held();
});
