import { expect, test } from 'vitest';
import type { Job } from '../../src/catalog/catalog.ts';
import { HandedInserts, insertRows } from '../../src/parse/inserts.ts';
import type { HandedRows } from '../../src/parse/messages.ts';
import type { EncodedRows } from '../../src/samples/samples.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const jobs = [{ generation: 0 }, { generation: 3 }] as Job[];
const [first, again] = jobs as [Job, Job];

function handed(delivery: number, text: string): HandedRows {
  const rows = [bytes(text)];
  return { delivery, sampleRows: rows, sampleRowCount: 1, rejectionRows: [], rejectionRowCount: 0 };
}

/** Takes rows; each insert is settled by the test. */
function taker() {
  const added: { rows: EncodedRows; count: number; done: () => void; fail: () => void }[] = [];
  return {
    added,
    room: async () => {},
    add: (rows: EncodedRows, count: number) =>
      new Promise<void>((resolve, reject) => {
        added.push({ rows, count, done: resolve, fail: () => reject(new Error('away')) });
      }),
  };
}

test('rows of a delivery that is parsed again are kept apart', async () => {
  const rows = taker();
  void insertRows(first, handed(0, 'a'), rows);
  void insertRows(again, handed(1, 'b'), rows);
  expect(rows.added.map((one) => one.rows)).toMatchObject([
    { samples: [bytes('a')], rejections: [] },
    { samples: [], reparsed: [bytes('b')], rejections: [] },
  ]);
});

test('no rows are no insert', async () => {
  const rows = taker();
  await insertRows(first, { ...handed(0, ''), sampleRowCount: 0 }, rows);
  expect(rows.added).toEqual([]);
});

test('a delivery is durable when all rows that came of it are', async () => {
  const rows = taker();
  const inserts = new HandedInserts(jobs, rows);
  for (const delivery of [0, 0, 1]) expect(await inserts.take(handed(delivery, 'x'))).toBe(true);
  expect([inserts.has(first), inserts.has(again)]).toEqual([true, true]);
  let durable = false;
  const all = inserts.of(first)!.then(() => {
    durable = true;
  });
  rows.added[0]!.done();
  rows.added[2]!.done();
  await inserts.of(again);
  expect(durable).toBe(false);
  rows.added[1]!.done();
  await all;
});

test('of a delivery that handed nothing on, nothing is waited for', async () => {
  const inserts = new HandedInserts(jobs, taker());
  expect(inserts.has(first)).toBe(false);
  await inserts.of(first);
});

test('once an insert has failed no more rows are taken, and its delivery knows', async () => {
  const rows = taker();
  const inserts = new HandedInserts(jobs, rows);
  await inserts.take(handed(0, 'x'));
  rows.added[0]!.fail();
  await expect(inserts.of(first)).rejects.toThrow('away');
  expect(await inserts.take(handed(0, 'y'))).toBe(false);
  expect(rows.added).toHaveLength(1);
});
