import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gather, type GatherLimits } from '../../src/std/gather.ts';

/** A gather whose groups are answered by hand. */
function byHand(limits: GatherLimits<string> = {}) {
  const sent: string[][] = [];
  const open: PromiseWithResolvers<readonly string[]>[] = [];
  const gather = new Gather<string, string>((group) => {
    sent.push(group);
    const answer = Promise.withResolvers<readonly string[]>();
    open.push(answer);
    return answer.promise;
  }, limits);
  let answered = 0;
  const answer = async (error?: Error) => {
    const group = sent[answered]!;
    if (error) open[answered]!.reject(error);
    else open[answered]!.resolve(group.map((item) => item.toUpperCase()));
    answered += 1;
    // The next group leaves at the end of the turn that brings the answer.
    for (let i = 0; i < 2; i++) await turn();
  };
  return { gather, sent, answer };
}

describe('a group', () => {
  test('leaves in the turn of its first item, with all that came in that turn', async () => {
    const { gather, sent, answer } = byHand();
    const both = [gather.add('a'), gather.add('b')];
    expect(sent).toEqual([]);
    await turn();
    expect(sent).toEqual([['a', 'b']]);
    await answer();
    expect(await Promise.all(both)).toEqual(['A', 'B']);
  });

  test('holds what came while the one before it was under way', async () => {
    const { gather, sent, answer } = byHand({ groupMax: 3 });
    const first = gather.add('a');
    await turn();
    const rest = ['b', 'c', 'd', 'e'].map((item) => gather.add(item));
    await turn();
    expect(sent).toEqual([['a']]);
    await answer();
    expect(await first).toBe('A');
    expect(sent).toEqual([['a'], ['b', 'c', 'd']]);
    await answer();
    expect(await Promise.all(rest.slice(0, 3))).toEqual(['B', 'C', 'D']);
    await answer();
    expect(await rest[3]).toBe('E');
    await gather.idle();
  });

  test('that fails takes its own items along and no other', async () => {
    const { gather, answer } = byHand();
    const first = gather.add('a');
    await turn();
    const second = gather.add('b');
    const failed = expect(first).rejects.toThrow('no');
    await answer(new Error('no'));
    await failed;
    await answer();
    expect(await second).toBe('B');
  });

  test('with too few answers fails: nobody gets the answer of another', async () => {
    const gather = new Gather<number, number>(async () => [1]);
    const both = await Promise.allSettled([gather.add(1), gather.add(2)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('with patience', () => {
  const patience = { share: 10, msMax: 2_000 };

  test('those who were answered together leave together again', async () => {
    const { gather, sent, answer } = byHand({ patience });
    const all = ['a', 'b'].map((item) => gather.add(item));
    await turn();
    all.push(gather.add('c'));
    await sleep(20);
    await answer();
    // Behind a and b, c is held until they are back.
    for (const item of ['a2', 'b2']) {
      expect(sent).toEqual([['a', 'b']]);
      all.push(gather.add(item));
      await turn();
    }
    await turn();
    expect(sent).toEqual([
      ['a', 'b'],
      ['c', 'a2', 'b2'],
    ]);
    await answer();
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C', 'A2', 'B2']);
  });

  test('nobody is held for longer than it lasts', async () => {
    const { gather, sent, answer } = byHand({ patience: { share: 10, msMax: 30 } });
    const all = ['a', 'b'].map((item) => gather.add(item));
    await turn();
    all.push(gather.add('c'));
    await sleep(20);
    await answer();
    const began = performance.now();
    await expect.poll(() => sent.length, { interval: 1 }).toBe(2);
    expect(performance.now() - began).toBeLessThan(500);
    expect(sent[1]).toEqual(['c']);
    await answer();
    await Promise.all(all);
    await gather.idle();
  });

  test('a lone caller is never held', async () => {
    const { gather, sent, answer } = byHand({ patience });
    for (const item of ['a', 'b', 'c']) {
      const one = gather.add(item);
      await turn();
      await sleep(5);
      await answer();
      expect(await one).toBe(item.toUpperCase());
    }
    expect(sent).toEqual([['a'], ['b'], ['c']]);
  });
});

describe('a group that takes too long', () => {
  const overtake = { afterMs: 20, groupsMax: 2 };

  test('does not keep the next from leaving, and is answered when it returns', async () => {
    const { gather, sent, answer } = byHand({ overtake });
    const slow = gather.add('slow');
    slow.catch(() => {}); // Looked at below.
    await turn();
    const next = gather.add('next');
    await turn();
    expect(sent).toEqual([['slow']]);
    await sleep(40);
    expect(sent).toEqual([['slow'], ['next']]);
    await answer(new Error('too late'));
    await expect(slow).rejects.toThrow('too late');
    let isIdle = false;
    const idle = gather.idle().then(() => {
      isIdle = true;
    });
    await turn();
    expect(isIdle).toBe(false);
    await answer();
    expect(await next).toBe('NEXT');
    await idle;
  });

  test('is waited for when so many are left behind already', async () => {
    const { gather, sent, answer } = byHand({ overtake });
    const all = ['a', 'b', 'c', 'd'].map(async (item, i) => {
      await sleep(30 * i);
      return gather.add(item);
    });
    await sleep(200);
    expect(sent).toEqual([['a'], ['b'], ['c']]);
    await answer();
    await sleep(60);
    expect(sent).toEqual([['a'], ['b'], ['c'], ['d']]);
    for (let n = 0; n < 3; n++) await answer();
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C', 'D']);
    await gather.idle();
  });
});

test('more than may wait are refused with the error of the caller', async () => {
  const { gather, answer } = byHand({ waitingMax: 2, refuse: () => new Error('too many') });
  const kept = [gather.add('a'), gather.add('b')];
  await expect(gather.add('c')).rejects.toThrow('too many');
  await turn();
  await answer();
  expect(await Promise.all(kept)).toEqual(['A', 'B']);
});

test('groups keep the order and both bounds, and nothing is lost or doubled', async () => {
  const items = fc.array(fc.nat(9), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      items,
      fc.integer({ min: 1, max: 5 }),
      fc.nat(1),
      async (weights, groupMax, share) => {
        const groups: { n: number; weight: number }[][] = [];
        const send = async (group: { n: number; weight: number }[]) => {
          groups.push(group);
          await turn();
          return group.map(({ n }) => n);
        };
        const weigh = ({ weight }: { weight: number }) => weight;
        const patience = { share, msMax: 3 };
        const gather = new Gather(send, { groupMax, weightMax: 12, weigh, patience });
        const adding = weights.map(async (weight, n) => {
          for (let i = 0; i < weight % 3; i++) await turn();
          return gather.add({ n, weight });
        });
        expect(await Promise.all(adding)).toEqual(weights.map((_, n) => n));
        await gather.idle();
        expect(groups.flat().length).toBe(weights.length);
        for (const group of groups) {
          expect(group.length).toBeLessThanOrEqual(groupMax);
          const weight = group.reduce((sum, one) => sum + one.weight, 0);
          expect(group.length === 1 || weight <= 12).toBe(true);
        }
      },
    ),
    { numRuns: 50 },
  );
});
