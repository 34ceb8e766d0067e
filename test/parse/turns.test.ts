import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from '../../src/parse/turns.ts';

test('no more run at once than may, in order, and a failure frees its turn', async () => {
  const turns = new Turns(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const work = async (n: number) => {
    begun.push(n);
    most = Math.max(most, ++running);
    await sleep(n % 2);
    running--;
    if (n % 3 === 0) throw new Error(`${n} fails`);
    return n;
  };
  const all = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map((n) => turns.run(() => work(n))));
  expect(most).toBe(2);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(all.map((one) => one.status === 'fulfilled')).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((n) => n % 3 !== 0),
  );
});
