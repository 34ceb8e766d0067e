import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { ByteBudget, type Holder } from '../../src/http/byte-budget.ts';

const mib = 1024 * 1024;
const small = limits.smallBodyBytesMax;
const share = limits.smallShareBytes;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A body of which so much has come. */
class TestHolder implements Holder {
  bytesCome = 0;
  complete = false;
  readonly errors: Error[] = [];
  giveWay(error: Error): void {
    this.errors.push(error);
  }
}

/** A budget, and a way to ask that writes down in which order it was granted. */
function budgetOf(bytes: number, bytesASecondMin = mib) {
  const budget = new ByteBudget(bytes, bytesASecondMin);
  const order: string[] = [];
  const ask = (name: string, bytes: number, holder: Holder = new TestHolder()) =>
    budget.take(bytes, holder).then(
      (release) => {
        order.push(name);
        return release;
      },
      () => {
        order.push(`${name} refused`);
        return () => {};
      },
    );
  return { budget, order, ask };
}

const turn = () => vi.advanceTimersByTimeAsync(0);

describe('a budget of bytes', () => {
  test('gives what is free at once', async () => {
    const { budget, order, ask } = budgetOf(share + 10 * mib);
    await Promise.all([ask('a', 6 * mib), ask('b', 4 * mib)]);
    expect(order).toEqual(['a', 'b']);
    expect(budget.bytesTaken).toBe(10 * mib);
  });

  test('lets large ones wait in order of asking, also when a later one would fit', async () => {
    const { budget, order, ask } = budgetOf(share + 10 * mib);
    const first = await ask('first', 8 * mib);
    const second = ask('second', 9 * mib);
    const third = ask('third', mib);
    await turn();
    expect(order).toEqual(['first']);
    first();
    (await second)();
    (await third)();
    expect(order).toEqual(['first', 'second', 'third']);
    expect(budget.bytesTaken).toBe(0);
  });

  test('keeps a share for small ones: they pass by the large ones that wait', async () => {
    const { order, ask } = budgetOf(share + 10 * mib);
    await ask('large', 10 * mib);
    void ask('waits', 10 * mib);
    await ask('small', small);
    expect(order).toEqual(['large', 'small']);
    void ask('larger than small', small + 1);
    await turn();
    expect(order).toEqual(['large', 'small']);
  });

  test('lets the oldest of the lobby give way when too many small bodies stall', async () => {
    const { budget } = budgetOf(share + mib);
    const holders = Array.from({ length: limits.lobbyBodiesMax + 2 }, () => new TestHolder());
    const [first, second, third] = holders;
    const leave = budget.enterLobby(first!);
    for (const holder of holders.slice(1, -2)) budget.enterLobby(holder);
    leave();
    budget.enterLobby(holders.at(-2)!);
    expect(holders.flatMap((holder) => holder.errors)).toEqual([]);
    budget.enterLobby(holders.at(-1)!);
    expect(second!.errors[0]).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
    expect([first!.errors, third!.errors]).toEqual([[], []]);
    expect(budget.bytesTaken).toBe(0);
  });

  test('counts a release once', async () => {
    const { budget, ask } = budgetOf(share + mib);
    await ask('stays', 10);
    const release = await ask('goes', 50);
    release();
    release();
    expect(budget.bytesTaken).toBe(10);
  });

  test('refuses the last in a line that is too long', async () => {
    const { order, ask } = budgetOf(share + mib);
    await ask('holds', mib);
    for (let i = 0; i < limits.budgetLineMax; i++) void ask(`waits ${i}`, mib);
    await turn();
    expect(order).toEqual(['holds']);
    void ask('one too many', mib);
    await turn();
    expect(order).toEqual(['holds', 'one too many refused']);
  });
});

describe('while others wait', () => {
  test('a body that stalls gives way, one that comes fast or is complete does not', async () => {
    const { ask } = budgetOf(share + 4 * mib);
    const [stalls, comes, complete] = [new TestHolder(), new TestHolder(), new TestHolder()];
    await ask('stalls', mib, stalls);
    await ask('comes', 2 * mib, comes);
    await ask('complete', mib, complete);
    complete.complete = true;
    void ask('waits', mib);
    for (let tenths = 0; tenths < 30; tenths++) {
      comes.bytesCome += mib / 10;
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(stalls.errors[0]).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
    expect([comes.errors, complete.errors]).toEqual([[], []]);
  });

  test('what came before counts for nothing: a body must go on coming', async () => {
    const { ask } = budgetOf(share + mib);
    const holder = new TestHolder();
    await ask('holds', mib, holder);
    holder.bytesCome = 100 * mib;
    void ask('waits', mib);
    await vi.advanceTimersByTimeAsync(2_200);
    expect(holder.errors).not.toEqual([]);
  });

  test('one that came fast for long is refused two seconds after it stalls', async () => {
    const { ask } = budgetOf(share + mib);
    const holder = new TestHolder();
    await ask('holds', mib, holder);
    void ask('waits', mib);
    for (let tenths = 0; tenths < 60; tenths++) {
      holder.bytesCome += mib;
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(holder.errors).toEqual([]);
    await vi.advanceTimersByTimeAsync(4_200);
    expect(holder.errors).not.toEqual([]);
  });

  test('nobody has to hurry when nobody waits', async () => {
    const { ask } = budgetOf(share + mib);
    const holder = new TestHolder();
    await ask('holds', mib, holder);
    await vi.advanceTimersByTimeAsync(60_000);
    void ask('waits', mib);
    await vi.advanceTimersByTimeAsync(1_900);
    expect(holder.errors).toEqual([]);
    await vi.advanceTimersByTimeAsync(300);
    expect(holder.errors).not.toEqual([]);
  });

  test('senders who stall one after the other do not stop the line', async () => {
    const { order, ask } = budgetOf(share + mib);
    const stall = (name: string) => {
      const holder = new TestHolder();
      const leave = ask(name, mib, holder);
      holder.giveWay = () => void leave.then((release) => release());
    };
    for (let i = 0; i < 10; i++) stall(`staller ${i}`);
    void ask('wanted', mib);
    await vi.advanceTimersByTimeAsync(10 * 2_200);
    expect(order.at(-1)).toBe('wanted');
  });
});
