import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { SampleStore } from '../../src/samples/samples.ts';
import { encode, type GivenSample, read } from '../samples/support.ts';

const day = 20_000;

/** One source whose deliveries are parsed, parsed again and settled by hand. */
function source(store: SampleStore) {
  const sourceId = randomUUID();
  const artifacts = new Map<number, string>();
  let number = 0;
  let reparsedUpTo = 0;
  const rows = (sequence: number, generation: number, samples: readonly GivenSample[]) => {
    const artifactId = artifacts.get(sequence) ?? randomUUID();
    artifacts.set(sequence, artifactId);
    return encode({ sourceId, artifactId, sequence, generation, samples });
  };
  const self = {
    first: (sequence: number, ...samples: readonly GivenSample[]) =>
      store.insert({ samples: [rows(sequence, 0, samples)], rejections: [] }),
    begin(sequence: number) {
      reparsedUpTo = Math.max(reparsedUpTo, sequence);
    },
    insert: (sequence: number, generation: number, ...samples: readonly GivenSample[]) =>
      store.insert({
        ...{ samples: [], rejections: [] },
        reparsed: [rows(sequence, generation, samples)],
      }),
    settle: (...deliveries: readonly (readonly [sequence: number, generation: number])[]) =>
      store.settle({
        ...{ sourceId, number: ++number, reparsedUpTo },
        deliveries: deliveries.map(([sequence, generation]) => ({ sequence, generation })),
      }),
    async again(sequence: number, generation: number, ...samples: readonly GivenSample[]) {
      self.begin(sequence);
      await self.insert(sequence, generation, ...samples);
      await self.settle([sequence, generation]);
    },
    forget: (generation: number) => store.forget({ sourceId, generation }),
    async shown() {
      const found = await read(store, { sourceId });
      return found.map((s) => s.value);
    },
    async shownFrom() {
      const names = new Map([...artifacts].map(([sequence, id]) => [id, sequence]));
      const found = await read(store, { sourceId });
      return found.map((s) => [s.value, names.get(s.artifact_id)]);
    },
  };
  return self;
}

const one = (value: string, more: Partial<GivenSample> = {}): GivenSample => ({
  ...{ day, value },
  ...more,
});

/** Parsing again (DECISIONS 3), as far as the sample store has to do with it. */
export function settlement(store: () => SampleStore): void {
  test('B parsed again without the sample brings A back, then A anew, then C', async () => {
    const on = source(store());
    await on.first(1, one('A'));
    await on.first(2, one('B'));
    expect(await on.shownFrom()).toEqual([['B', 2]]);
    await on.again(2, 1);
    expect(await on.shownFrom()).toEqual([['A', 1]]);
    await on.again(1, 2, one('A2'));
    expect(await on.shownFrom()).toEqual([['A2', 1]]);
    await on.first(3, one('C'));
    expect(await on.shownFrom()).toEqual([['C', 3]]);
    await on.again(3, 4);
    expect(await on.shownFrom()).toEqual([['A2', 1]]);
  });

  test('a next generation is not readable before it is settled, then all at once', async () => {
    const on = source(store());
    await on.first(1, one('old'), one('gone', { metric: 'visits' }));
    on.begin(1);
    await on.insert(1, 5, one('new'), one('more', { day: day - 1 }));
    expect(await on.shown()).toEqual(['old', 'gone']);
    await on.settle([1, 5]);
    expect(await on.shown()).toEqual(['new', 'more']);
  });

  test('a delivery that is parsed again keeps its place: a later one stays', async () => {
    const on = source(store());
    await on.first(1, one('A'));
    await on.first(2, one('B'));
    await on.again(1, 1, one('A2'));
    expect(await on.shown()).toEqual(['B']);
    await on.again(2, 2, one('B2'));
    expect(await on.shown()).toEqual(['B2']);
  });

  test('a late worker of an older generation changes nothing', async () => {
    const on = source(store());
    await on.first(1, one('A'));
    await on.again(1, 1, one('A1'));
    await on.again(1, 2, one('A2'));
    await on.first(1, one('A'));
    await on.insert(1, 1, one('A1'), one('late', { metric: 'visits' }));
    expect(await on.shown()).toEqual(['A2']);
    await on.settle([1, 2]);
    expect(await on.shown()).toEqual(['A2']);
  });

  test('a first parse that comes late shows once it is settled', async () => {
    const on = source(store());
    await on.first(1, one('A'));
    await on.first(3, one('C'));
    await on.again(3, 1);
    expect(await on.shown()).toEqual(['A']);
    await on.first(2, one('B'));
    await on.settle([2, 0]);
    expect(await on.shownFrom()).toEqual([['B', 2]]);
  });

  test('a delivery that gives nothing any more leaves nothing, and may give again', async () => {
    const on = source(store());
    await on.first(1, one('A'), one('A', { labels: { place: 'ä"\\' } }));
    await on.again(1, 1);
    expect(await on.shown()).toEqual([]);
    await on.again(1, 2, one('A', { labels: { place: 'ä"\\' } }));
    expect(await on.shown()).toEqual(['A']);
    await on.first(2, one('B'));
    expect(await on.shown()).toEqual(['A', 'B']);
  });

  test('inside a generation the later record wins', async () => {
    const on = source(store());
    await on.first(1, one('first', { record: 9 }));
    await on.again(1, 1, one('x', { record: 2 }), one('y', { record: 7 }), one('z', { record: 5 }));
    expect(await on.shown()).toEqual(['y']);
  });

  test('several deliveries settle in one turn, and a repeated turn changes nothing', async () => {
    const on = source(store());
    for (const sequence of [1, 2, 3, 4]) await on.first(sequence, one(`${sequence}`));
    on.begin(4);
    await on.insert(3, 1, one('3b'));
    await on.insert(4, 1);
    for (let turn = 0; turn < 3; turn++) {
      await on.settle([3, 1], [4, 1], [2, 0]);
      expect(await on.shownFrom()).toEqual([['3b', 3]]);
    }
  });

  test('a turn that a later one overtook changes nothing of what that one settled', async () => {
    const the = store();
    const sourceId = randomUUID();
    const artifactId = randomUUID();
    const parsed = (generation: number, ...samples: readonly GivenSample[]) =>
      encode({ sourceId, artifactId, sequence: 1, generation, samples });
    await the.insert({ samples: [parsed(0, one('A'))], rejections: [] });
    await the.insert({ samples: [], reparsed: [parsed(1, one('B'))], rejections: [] });
    const turn = (number: number, generation: number) =>
      the.settle({
        ...{ sourceId, number, reparsedUpTo: 1 },
        deliveries: [{ sequence: 1, generation }],
      });
    await turn(12, 2);
    await turn(11, 1);
    expect(await read(the, { sourceId })).toEqual([]);
  });
}

/** What withdrawn deliveries leave in the store (DECISIONS 1: personal text appears nowhere). */
export function forgetting(store: () => SampleStore, dump: () => Promise<string>): void {
  test('the text of withdrawn samples is gone, and nothing readable changes', async () => {
    const on = source(store());
    const who = (name: string, value = '1') => one(value, { labels: { who: `canary ${name}` } });
    await on.first(1, one('A'), who('one'), one('kept', { labels: { who: 'kept' } }));
    await on.first(2, one('B'), who('two'), one('secret', { metric: 'visits' }));
    await on.first(3, who('two'), who('three'));
    await on.first(4, one('D', { labels: { who: 'kept' } }));
    // The first is parsed again twice, once into what the second hides.
    await on.again(1, 1, one('A1'), who('one'), who('two'), one('K', { labels: { who: 'kept' } }));
    await on.again(1, 2, one('A2'), who('one'));
    expect(await dump()).toContain('canary two');
    on.begin(3);
    await on.settle([1, 9], [2, 9], [3, 9]);
    expect(await on.shown()).toEqual(['D']);
    // One is parsed again before the text is forgotten, and one is about to be.
    await on.again(1, 11, one('A3'));
    await on.insert(2, 12, one('B3'));
    for (let time = 0; time < 2; time++) {
      await on.forget(9);
      expect(await on.shown()).toEqual(['D', 'A3']);
      const text = await dump();
      expect([text.includes('canary'), text.includes('secret')]).toEqual([false, false]);
    }
    on.begin(2);
    await on.settle([2, 12]);
    expect(await on.shown()).toEqual(['D', 'B3']);
    await on.first(5, who('five'));
    expect(await on.shown()).toHaveLength(3);
  });
}
