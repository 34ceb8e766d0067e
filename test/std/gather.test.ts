import { setImmediate as turn } from 'node:timers/promises';
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
    await turn();
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

  test('does not wait for another where two may be under way', async () => {
    const { gather, sent, answer } = byHand({ atOnce: 2 });
    const all = [];
    for (const item of ['a', 'b', 'c']) {
      all.push(gather.add(item));
      await turn();
    }
    expect(sent).toEqual([['a'], ['b']]);
    await answer();
    expect(sent).toEqual([['a'], ['b'], ['c']]);
    await answer();
    await answer();
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C']);
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
    fc.asyncProperty(items, fc.integer({ min: 1, max: 5 }), async (weights, groupMax) => {
      const groups: { n: number; weight: number }[][] = [];
      const send = async (group: { n: number; weight: number }[]) => {
        groups.push(group);
        await turn();
        return group.map(({ n }) => n);
      };
      const weigh = ({ weight }: { weight: number }) => weight;
      const gather = new Gather(send, { groupMax, weightMax: 12, weigh });
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
    }),
    { numRuns: 50 },
  );
});
