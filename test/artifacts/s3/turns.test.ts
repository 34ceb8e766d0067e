import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Turn, type TurnLimits, Turns } from '../../../src/artifacts/s3/turns.ts';

const never = new AbortController().signal;
const limits: TurnLimits = {
  atOnce: 2,
  waitingMax: 3,
  waitMs: 60_000,
  restMs: 20,
  lentMax: 2,
  stalledMs: 150,
};

describe('turns', () => {
  test('let so many in at once, the others in the order they came', async () => {
    const turns = new Turns(limits);
    const order: number[] = [];
    const take = (name: number) =>
      turns.take(never).then((turn) => {
        order.push(name);
        return turn;
      });
    const all = [take(1), take(2), take(3), take(4)];
    const [one, two] = await Promise.all(all.slice(0, 2));
    expect(order).toEqual([1, 2]);
    one!.end();
    await all[2];
    two!.end();
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
    const turns = new Turns({ ...limits, atOnce: 1, waitMs: 20 });
    const turn = await turns.take(never);
    await expect(turns.take(never)).rejects.toThrow('no turn within 20 ms');
    turn.end();
    await turns.take(never);
  });

  test('are not lost to a caller that goes away in the moment of its turn', async () => {
    const turns = new Turns({ ...limits, atOnce: 1 });
    const turn = await turns.take(never);
    const gone = new AbortController();
    const leaving = turns.take(gone.signal);
    const staying = turns.take(never);
    gone.abort(new Error('gone'));
    turn.end();
    await expect(leaving).rejects.toThrow('gone');
    await staying;
  });
});

describe('a turn that rests', () => {
  const alone = { ...limits, atOnce: 1 };

  test('stays with its holder while nobody waits', async () => {
    const turns = new Turns(alone);
    const turn = await turns.take(never);
    turn.rest();
    await sleep(50);
    let isHeld = false;
    await Promise.race([turn.resume().then(() => (isHeld = true)), sleep(0)]);
    expect(isHeld).toBe(true);
  });

  test('is lent to who waits, and its holder waits again when it goes on', async () => {
    const turns = new Turns(alone);
    const stalled = await turns.take(never);
    stalled.rest();
    const began = performance.now();
    const other = await turns.take(never);
    expect(performance.now() - began).toBeGreaterThan(15);
    let goesOn = false;
    const resumed = stalled.resume().then(() => {
      goesOn = true;
    });
    await sleep(50);
    expect(goesOn).toBe(false);
    other.end();
    await resumed;
    stalled.end();
    (await turns.take(never)).end();
  });

  test('is not lent before it has rested long enough, nor while it works', async () => {
    const turns = new Turns({ ...alone, waitMs: 100, restMs: 60 });
    const turn = await turns.take(never);
    const waiting = turns.take(never);
    waiting.catch(() => {});
    for (let n = 0; n < 6; n++) {
      turn.rest();
      await sleep(10);
      await turn.resume();
      await sleep(10);
    }
    await expect(waiting).rejects.toThrow('no turn within 100 ms');
  });

  test('gives way when too many are lent already, the one lent first', async () => {
    const turns = new Turns(alone);
    const gaveWay: number[] = [];
    const began = performance.now();
    for (let n = 0; n < 4; n++) {
      const turn: Turn = await turns.take(never, () => {
        gaveWay.push(n);
        turn.end();
      });
      if (n < 3) expect(performance.now() - began).toBeLessThan(140);
      turn.rest();
    }
    // Not before it had stalled: a sender who is only slow goes on.
    expect(performance.now() - began).toBeGreaterThan(140);
    expect(gaveWay).toEqual([0]);
  });

  test.each([
    { title: 'while it rests', stop: async (turn: Turn) => turn.end() },
    {
      title: 'while it is lent',
      stop: async (turn: Turn, turns: Turns) => {
        const other = await turns.take(never);
        turn.end();
        other.end();
      },
    },
    {
      title: 'while it is waited for again',
      stop: async (turn: Turn, turns: Turns) => {
        const other = await turns.take(never);
        const resumed = turn.resume();
        turn.end();
        other.end();
        await resumed;
      },
    },
  ])('can be ended $title, and is free then, once', async ({ stop }) => {
    const turns = new Turns({ ...alone, waitMs: 50 });
    const turn = await turns.take(never);
    turn.rest();
    await stop(turn, turns);
    turn.end();
    await turns.take(never);
    await expect(turns.take(never)).rejects.toThrow('no turn within');
  });

  test('is lost when its holder is given up while waiting for it again', async () => {
    const turns = new Turns(alone);
    const gone = new AbortController();
    const turn = await turns.take(gone.signal);
    turn.rest();
    const other = await turns.take(never);
    const resumed = turn.resume();
    gone.abort(new Error('gone'));
    await expect(resumed).rejects.toThrow('gone');
    other.end();
    await turns.take(never);
  });
});
