import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Completed, Job, Outcome, Queue } from '../../src/catalog/catalog.ts';
import { ParseLoop } from '../../src/parse/loop.ts';
import type { ParseOutcome, ParseTask } from '../../src/parse/messages.ts';
import type { EncodedRows, Settlement } from '../../src/samples/samples.ts';

const quiet = { warn: () => {}, error: () => {} };

function job(n: number, bytes = 100): Job {
  const artifactId = `artifact-${n}`;
  const place = { object: artifactId, offset: 0, length: bytes };
  return {
    artifactId,
    token: `token-${n}`,
    failures: 0,
    metrics: [],
    ...{ personalNow: [], generation: 0, refusal: null },
    company: { companyId: 'c', name: 'c', timezone: 'UTC' },
    shape: { version: 1, delivery: 'push', format: 'csv', fields: [], savedAt: 0, savedBy: 't' },
    delivery: {
      ...{ artifactId, sourceId: 's', sandbox: false, sequence: n, bytes, place },
      ...{ receiptShapeVersion: 1, shapeVersion: 1, generation: 0, status: 'parsing' },
      ...{ sha256: '', delivery: 'push', mediaType: '', encoding: 'identity', receivedAt: 0 },
      ...{ secretId: null, counts: null, refusal: null, undeclaredFields: [] },
    } as Job['delivery'],
  };
}

const done: ParseOutcome = {
  kind: 'done',
  status: 'parsed',
  counts: { records: 1, parsed: 1, rejected: 0, samples: 1, blank: 0, supersededWithin: 0 },
  valuesSeen: 1,
  refusal: null,
  undeclaredFields: [],
  sampleRows: [new Uint8Array(Buffer.from('row\n'))],
  sampleRowCount: 1,
  rejectionRows: [],
  rejectionRowCount: 0,
};

/** A queue that holds jobs in memory, and what the loop did with each. */
function setUp(
  jobs: Job[],
  parse: (task: ParseTask) => ParseOutcome[] | Promise<ParseOutcome[]>,
  insert = async () => {},
  judge = (_: Outcome): Partial<Completed> => ({}),
  room = async () => {},
) {
  const waiting = [...jobs];
  const seen = {
    ...{ completed: [] as Outcome[], settled: [] as Settlement[] },
    ...{ released: [] as string[], crashed: [] as string[], notBefore: [] as number[] },
  };
  const order: string[] = [];
  const queue: Queue = {
    claim: async ({ limit }) => waiting.splice(0, limit),
    extend: async () => {},
    complete: async (outcomes) => {
      order.push('complete');
      seen.completed.push(...outcomes);
      const took = outcomes.map((one) => one.artifactId);
      const judged = outcomes.map(judge);
      return { took, unsettled: [], outdated: [], ...judged[0] };
    },
    release: async (leases, notBefore) => {
      seen.notBefore.push(notBefore);
      seen.released.push(...leases.map((one) => one.artifactId));
      return [];
    },
    crashed: async (lease) => {
      seen.crashed.push(lease.artifactId);
      return 'queued';
    },
    backlog: async () => ({ deliveries: 0, oldestReceivedAt: null }),
  };
  const tasks: string[][] = [];
  const pool = {
    threads: 1,
    close: async () => {},
    run: async (task: ParseTask) => {
      tasks.push(task.deliveries.map((one) => one.artifactId));
      return { outcomes: await parse(task) };
    },
  };
  const rows = {
    room,
    add: async (encoded: EncodedRows) => {
      await insert();
      order.push(encoded.reparsed ? 'insert apart' : 'insert');
    },
  };
  const samples = {
    settle: async (settlement: Settlement) => {
      order.push('settle');
      seen.settled.push(settlement);
    },
    forget: async () => {},
  };
  let turns = 0;
  const reparses = {
    takeTurn: async () => ({ token: `turn-${++turns}`, number: turns, reparsedUpTo: 9 }),
    extendTurn: async () => true,
    endTurn: async (token: string) => void order.push(`end ${token}`),
    toForget: async () => [],
    forgotten: async () => {},
  };
  const parts = { queue, reparses, samples, pool, rows, log: quiet };
  const loop = new ParseLoop({ ...parts, clock: () => 1_000 });
  return { loop, seen, tasks, order };
}

test('a delivery is completed after its rows are durable', async () => {
  const { loop, seen, order } = setUp([job(1)], () => [done]);
  loop.start();
  await vi.waitFor(() => expect(seen.completed).toHaveLength(1));
  await loop.stop();
  expect(order).toEqual(['insert', 'complete']);
});

test('small deliveries share a task, a large one has its own', async () => {
  const jobs = [job(1), job(2), job(3, 1_000_000), job(4)];
  const { loop, seen, tasks } = setUp(jobs, (task) => task.deliveries.map(() => done));
  loop.start();
  await vi.waitFor(() => expect(seen.completed).toHaveLength(4));
  await loop.stop();
  expect(tasks).toEqual([['artifact-3'], ['artifact-1', 'artifact-2', 'artifact-4']]);
});

test('deliveries that were claimed together share a token', async () => {
  const together = [1, 2, 3].map((n) => ({ ...job(n), token: 'one-token' }));
  const { loop, seen } = setUp(together, (task) => task.deliveries.map(() => done));
  loop.start();
  await vi.waitFor(() => expect(seen.completed).toHaveLength(3));
  await loop.stop();
});

test('when a thread dies over several deliveries, only the one at fault is charged', async () => {
  const { loop, seen } = setUp([job(1), job(2), job(3)], (task) => {
    if (task.deliveries.some((one) => one.artifactId === 'artifact-2')) throw new Error('died');
    return task.deliveries.map(() => done);
  });
  loop.start();
  await vi.waitFor(() => expect(seen.completed).toHaveLength(2));
  await loop.stop();
  expect(seen.crashed).toEqual(['artifact-2']);
  expect(seen.completed.map((one) => one.artifactId)).toEqual(['artifact-1', 'artifact-3']);
});

test('of large deliveries no more are parsed than there is room for rows', async () => {
  const inserts: (() => void)[] = [];
  const isFull = () => inserts.length > 0;
  const { loop, seen, tasks } = setUp(
    [1, 2, 3].map((n) => job(n, 1_000_000)),
    (task) => task.deliveries.map(() => done),
    () => new Promise<void>((resolve) => inserts.push(resolve)),
    undefined,
    () => vi.waitUntil(() => !isFull(), { interval: 1, timeout: 10_000 }).then(() => {}),
  );
  loop.start();
  for (let n = 1; n <= 3; n++) {
    await vi.waitUntil(isFull);
    await sleep(20);
    expect(tasks).toHaveLength(n);
    inserts.shift()!();
  }
  await vi.waitFor(() => expect(seen.completed).toHaveLength(3));
  await loop.stop();
});

test('what a store does never counts against a delivery: it goes back to the queue', async () => {
  const { loop, seen } = setUp(
    [job(1)],
    () => [done],
    async () => {
      throw new Error('ClickHouse is away');
    },
  );
  loop.start();
  await vi.waitFor(() => expect(seen.released).toEqual(['artifact-1']));
  await loop.stop();
  expect(seen.completed).toEqual([]);
  expect(seen.crashed).toEqual([]);
});

test('bytes that cannot be read put the delivery back with a growing wait', async () => {
  const jobs = [0, 3, 99].map((failures, i) => ({ ...job(i + 1), failures }));
  const outcome: ParseOutcome = { kind: 'unreadable', reason: 'store away' };
  const { loop, seen } = setUp(jobs, (task) => task.deliveries.map(() => outcome));
  loop.start();
  await vi.waitFor(() => expect(seen.released).toHaveLength(3));
  await loop.stop();
  expect(seen.notBefore.map((at) => at - 1_000)).toEqual([500, 4_000, 60_000]);
});

test('damaged bytes are told, and put the delivery back with a growing wait', async () => {
  const jobs = [0, 3, 99].map((failures, i) => ({ ...job(i + 1), failures }));
  const outcome: ParseOutcome = { kind: 'damaged', reason: 'other bytes' };
  const { loop, seen } = setUp(jobs, (task) => task.deliveries.map(() => outcome));
  const told = vi.spyOn(quiet, 'error');
  loop.start();
  await vi.waitFor(() => expect(seen.released).toHaveLength(3));
  await loop.stop();
  expect(seen.notBefore.map((at) => at - 1_000)).toEqual([500, 4_000, 60_000]);
  const fields = { reason: 'other bytes', artifactId: 'artifact-1' };
  expect(told).toHaveBeenCalledWith(fields, expect.stringContaining('damaged'));
  told.mockRestore();
  expect(seen.crashed).toEqual([]);
});

test('a stop waits for what is under way', async () => {
  let finish = () => {};
  const { loop, seen } = setUp(
    [job(1)],
    () => [done],
    () => new Promise((resolve) => (finish = resolve)),
  );
  loop.start();
  await vi.waitFor(() => expect(finish).not.toBe(undefined));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const stopped = loop.stop();
  finish();
  await stopped;
  expect(seen.completed).toHaveLength(1);
});

test('a thread that a stop ends does not count against its delivery', async () => {
  let end = (_: Error) => {};
  const ended = new Promise<never>((_, reject) => {
    end = reject;
  });
  const { loop, seen, tasks } = setUp([job(1)], () => ended);
  loop.start();
  await vi.waitFor(() => expect(tasks).toHaveLength(1));
  const stopped = loop.stop();
  end(new Error('the thread was ended'));
  await stopped;
  expect(seen).toMatchObject({ completed: [], released: ['artifact-1'], crashed: [] });
});

test('of a task that a stop ends, no delivery is tried again', async () => {
  let end = (_: Error) => {};
  const ended = new Promise<never>((_, reject) => {
    end = reject;
  });
  const { loop, seen, tasks } = setUp([job(1), job(2), job(3)], () => ended);
  loop.start();
  await vi.waitFor(() => expect(tasks).toHaveLength(1));
  const stopped = loop.stop();
  end(new Error('the thread was ended'));
  await stopped;
  const all = ['artifact-1', 'artifact-2', 'artifact-3'];
  expect(seen).toMatchObject({ completed: [], released: all, crashed: [] });
  expect(tasks).toEqual([all]);
});

test('a next generation is inserted apart, settled in a turn and completed within it', async () => {
  const again = { ...job(7), generation: 12 };
  const { loop, seen, order } = setUp([again], () => [done]);
  loop.start();
  await vi.waitFor(() => expect(order).toContain('end turn-1'));
  await loop.stop();
  expect(order).toEqual(['insert apart', 'settle', 'complete', 'end turn-1']);
  const deliveries = [{ sequence: 7, generation: 12 }];
  expect(seen.settled).toEqual([{ sourceId: 's', number: 1, reparsedUpTo: 9, deliveries }]);
  expect(seen.completed).toMatchObject([{ generation: 12, turn: 'turn-1', status: 'parsed' }]);
});

test('a refusal is settled and completed without being parsed', async () => {
  const refusal = { record: null, line: null, field: 'x', code: 'personal_field', message: 'No.' };
  const { loop, seen, tasks } = setUp([{ ...job(1), generation: 3, refusal }], () => [done]);
  loop.start();
  await vi.waitFor(() => expect(seen.completed).toHaveLength(1));
  await loop.stop();
  expect(tasks).toEqual([]);
  expect(seen.completed).toMatchObject([{ status: 'rejected', refusal, turn: 'turn-1' }]);
});

test('a first parse that must be settled is settled and completed again', async () => {
  const { loop, seen } = setUp(
    [job(1)],
    () => [done],
    undefined,
    ({ artifactId, turn }) => (turn === null ? { took: [], unsettled: [artifactId] } : {}),
  );
  loop.start();
  await vi.waitFor(() => expect(seen.completed).toHaveLength(2));
  await loop.stop();
  expect(seen.settled).toMatchObject([{ deliveries: [{ sequence: 1, generation: 0 }] }]);
  expect(seen.completed.map((one) => one.turn)).toEqual([null, 'turn-1']);
});

test('rows of a first parse that a later generation overtook are settled away', async () => {
  const { loop, seen } = setUp(
    [job(1)],
    () => [done],
    undefined,
    ({ artifactId }) => ({
      took: [],
      outdated: [{ artifactId, generation: 4 }],
    }),
  );
  loop.start();
  await vi.waitFor(() => expect(seen.settled).toHaveLength(1));
  await loop.stop();
  expect(seen.settled).toMatchObject([{ deliveries: [{ sequence: 1, generation: 4 }] }]);
  expect(seen.completed).toHaveLength(1);
});
