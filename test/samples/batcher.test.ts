import { describe, expect, test } from 'vitest';
import { InsertBatcher, type Timers } from '../../src/samples/batcher.ts';
import type { EncodedRows } from '../../src/samples/samples.ts';

/** A store whose inserts stay under way until the test settles them. */
class HeldStore {
  readonly inserts: { names: string[]; rows: EncodedRows; settle(error?: Error): void }[] = [];

  insert(rows: EncodedRows): Promise<void> {
    return new Promise((resolve, reject) => {
      const names = [...rows.samples, ...rows.rejections].map((block) => block.toString());
      const settle = (error?: Error) => (error === undefined ? resolve() : reject(error));
      this.inserts.push({ names, rows, settle });
    });
  }
}

/** A clock that moves when the test says so. */
class HandTimers implements Timers {
  #now = 0;
  #calls: { at: number; call: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const entry = { at: this.#now + ms, call };
    this.#calls.push(entry);
    return () => {
      this.#calls = this.#calls.filter((each) => each !== entry);
    };
  }

  get pending(): number {
    return this.#calls.length;
  }

  async pass(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#calls.filter(({ at }) => at <= this.#now);
    this.#calls = this.#calls.filter(({ at }) => at > this.#now);
    for (const { call } of due) call();
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const rows = (name: string): EncodedRows => ({ samples: [Buffer.from(name)], rejections: [] });

function setUp(options: Partial<ConstructorParameters<typeof InsertBatcher>[0]> = {}) {
  const store = new HeldStore();
  const timers = new HandTimers();
  const batcher = new InsertBatcher({
    ...{ store, timers, rowsMax: 10, bytesMax: 1_000, waitMs: 200 },
    ...{ rowsWorth: 10, bytesWorth: 1_000, spacingMs: 0 },
    ...options,
  });
  /** Adds and notes how it settled. */
  const settled: string[] = [];
  const add = (name: string, rowCount = 1) =>
    batcher.add(rows(name), rowCount).then(
      () => settled.push(`${name} ok`),
      (error: Error) => settled.push(`${name} ${error.message}`),
    );
  return { store, timers, batcher, settled, add };
}

describe('an insert leaves', () => {
  test('when its oldest entry has waited long enough, with all that came meanwhile', async () => {
    const { store, timers, add, settled } = setUp();
    void add('a');
    await timers.pass(150);
    void add('b');
    await timers.pass(49);
    expect(store.inserts).toHaveLength(0);
    await timers.pass(1);
    expect(store.inserts.map((each) => each.names)).toEqual([['a', 'b']]);
    expect(settled).toEqual([]);
    store.inserts[0]!.settle();
    await turn();
    expect(settled).toEqual(['a ok', 'b ok']);
    expect(timers.pending).toBe(0);
  });

  test('at once when it has its rows', async () => {
    const { store, add, timers } = setUp();
    void add('a', 4);
    void add('b', 6);
    expect(store.inserts.map((each) => each.names)).toEqual([['a', 'b']]);
    expect(timers.pending).toBe(0);
  });

  test('at once when it has its bytes', () => {
    const { store, add } = setUp({ bytesMax: 10 });
    void add('12345');
    expect(store.inserts).toHaveLength(0);
    void add('67890');
    expect(store.inserts.map((each) => each.names)).toEqual([['12345', '67890']]);
  });

  test('at once when it is worth its while, with as much as fits', async () => {
    const { store, add } = setUp({ rowsWorth: 3, spacingMs: 750 });
    void add('a', 2);
    expect(store.inserts).toHaveLength(0);
    void add('b', 1);
    expect(store.inserts.map((each) => each.names)).toEqual([['a', 'b']]);
    for (const name of ['c', 'd', 'e']) void add(name, 5);
    store.inserts[0]!.settle();
    await turn();
    expect(store.inserts[1]?.names).toEqual(['c', 'd']);
  });

  test('soon at rest, but a while after the one before, so that a stream makes few', async () => {
    const { store, timers, add } = setUp({ waitMs: 50, spacingMs: 750 });
    void add('a');
    await timers.pass(50);
    expect(store.inserts.map((each) => each.names)).toEqual([['a']]);
    store.inserts[0]!.settle();
    await turn();
    for (const name of ['b', 'c', 'd']) {
      void add(name);
      await timers.pass(200);
    }
    expect(store.inserts).toHaveLength(1);
    await timers.pass(149);
    expect(store.inserts).toHaveLength(1);
    await timers.pass(1);
    expect(store.inserts[1]?.names).toEqual(['b', 'c', 'd']);
  });

  test('never while another is under way; then in order, as many as fit', async () => {
    const { store, timers, add, settled } = setUp();
    void add('a', 10);
    for (const name of ['b', 'c', 'd']) void add(name, 5);
    await timers.pass(1_000);
    expect(store.inserts).toHaveLength(1);
    store.inserts[0]!.settle();
    await turn();
    expect(store.inserts.map((each) => each.names)).toEqual([['a'], ['b', 'c']]);
    store.inserts[1]!.settle();
    await turn();
    // Its wait was over long ago.
    expect(store.inserts[2]?.names).toEqual(['d']);
    store.inserts[2]!.settle();
    await turn();
    expect(settled).toEqual(['a ok', 'b ok', 'c ok', 'd ok']);
  });

  test('with one entry above the maximum alone, and whole', async () => {
    const { store, add } = setUp();
    void add('small', 1);
    void add('huge', 280_000);
    void add('next', 1);
    expect(store.inserts.map((each) => each.names)).toEqual([['small']]);
    store.inserts[0]!.settle();
    await turn();
    expect(store.inserts[1]?.names).toEqual(['huge']);
  });
});

describe('what becomes of an entry', () => {
  test('a failed insert rejects all of its own, and the next goes on', async () => {
    const { store, add, settled } = setUp();
    for (const name of ['a', 'b']) void add(name, 5);
    void add('c', 10);
    store.inserts[0]!.settle(new Error('away'));
    await turn();
    expect(settled).toEqual(['a away', 'b away']);
    store.inserts[1]!.settle();
    await turn();
    expect(settled).toEqual(['a away', 'b away', 'c ok']);
  });

  test('a store that throws at once does not stop the batcher', async () => {
    let calls = 0;
    const insert = () => {
      calls += 1;
      if (calls === 1) throw new Error('thrown');
      return Promise.resolve();
    };
    const { add, settled } = setUp({ store: { insert } });
    await add('a', 10);
    await add('b', 10);
    expect(settled).toEqual(['a thrown', 'b ok']);
  });

  test('samples and rejections of many deliveries keep their kinds', async () => {
    const { store, batcher } = setUp();
    const both = (n: number) => ({
      samples: [Buffer.from(`s${n}`)],
      rejections: [Buffer.from(`r${n}`)],
    });
    void batcher.add(both(1), 5);
    void batcher.add(both(2), 5);
    const { samples, rejections } = store.inserts[0]!.rows;
    expect(samples.map(String)).toEqual(['s1', 's2']);
    expect(rejections.map(String)).toEqual(['r1', 'r2']);
  });

  test('a delivery without rows is done at once', async () => {
    const { store, batcher } = setUp();
    await batcher.add({ samples: [], rejections: [Buffer.alloc(0)] }, 0);
    expect(store.inserts).toHaveLength(0);
  });
});

describe('bytes held', () => {
  test('who makes rows waits for room until what was handed over is durable', async () => {
    const { store, batcher, add } = setUp({ rowsMax: 1, bytesHeldMax: 8 });
    let rooms = 0;
    const seek = () =>
      void batcher.room().then(() => {
        rooms += 1;
      });
    void add('1234');
    seek();
    await turn();
    expect([rooms, batcher.bytesHeld]).toEqual([1, 4]);
    void add('5678');
    seek();
    seek();
    await turn();
    expect([rooms, batcher.bytesHeld]).toEqual([1, 8]);
    store.inserts[0]!.settle();
    await turn();
    expect([rooms, batcher.bytesHeld]).toEqual([3, 4]);
  });
});

describe('closing', () => {
  test('inserts what is gathered, waits for it, and refuses what comes later', async () => {
    const { store, batcher, add, settled } = setUp();
    void add('a', 10);
    void add('b', 1);
    let closed = false;
    const closing = batcher.close().then(() => {
      closed = true;
    });
    store.inserts[0]!.settle();
    await turn();
    expect([store.inserts[1]?.names, closed]).toEqual([['b'], false]);
    store.inserts[1]!.settle(new Error('away'));
    await closing;
    await add('late');
    expect(settled).toEqual(['a ok', 'b away', 'late the batcher is closed']);
  });
});
