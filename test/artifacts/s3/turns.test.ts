import { describe, expect, test } from 'vitest';
import { Turns } from '../../../src/artifacts/s3/turns.ts';

const never = new AbortController().signal;
const limits = { atOnce: 2, waitingMax: 3, waitMs: 60_000 };

describe('turns', () => {
  test('let so many in at once, the others in the order they came', async () => {
    const turns = new Turns(limits);
    const order: number[] = [];
    const take = (name: number) => turns.take(never).then(() => order.push(name));
    const all = [take(1), take(2), take(3), take(4)];
    await Promise.all(all.slice(0, 2));
    expect(order).toEqual([1, 2]);
    turns.free();
    await all[2];
    turns.free();
    await all[3];
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test('refuse who comes when too many wait', async () => {
    const turns = new Turns({ ...limits, waitingMax: 0 });
    await turns.take(never);
    await turns.take(never);
    await expect(turns.take(never)).rejects.toThrow('wait already');
  });

  test('refuse who has waited too long, and go on with the next', async () => {
    const turns = new Turns({ atOnce: 1, waitingMax: 1, waitMs: 20 });
    await turns.take(never);
    await expect(turns.take(never)).rejects.toThrow('no turn within 20 ms');
    turns.free();
    await turns.take(never);
  });

  test('are not lost to a caller that goes away in the moment of its turn', async () => {
    const turns = new Turns({ ...limits, atOnce: 1 });
    await turns.take(never);
    const gone = new AbortController();
    const leaving = turns.take(gone.signal);
    const staying = turns.take(never);
    gone.abort(new Error('gone'));
    turns.free();
    await expect(leaving).rejects.toThrow('gone');
    await staying;
  });
});
