import { expect, test } from 'vitest';
import {
  asLocal,
  asQuery,
  filterIn,
  fromLocal,
  listAddress,
} from '../../src/console/deliveries/filter.ts';
import { liveRows, type Row } from '../../src/console/deliveries/live-rows.ts';

/** A list that is read while deliveries come in. */

const row = (minute: number, status: Row['status'] = 'queued'): Row => ({
  ...{ artifact_id: `a${minute}`, status, bytes: 1, sandbox: false, shape_version: 1 },
  received_at: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
  ...{ counts: null, refusal: null, idempotency_key: 'k', conflicts: 0, damage: null },
});
const free = { full: false, mayMove: true };
const read = { full: false, mayMove: false };
const ids = (rows: readonly Row[]) => rows.map((one) => one.artifact_id);

test('what comes in while nobody reads is there at once', () => {
  const before = liveRows(null, [row(1)], free);
  const after = liveRows(before, [row(2), row(1)], free);
  expect([ids(after.rows), after.waiting]).toEqual([['a2', 'a1'], 0]);
  const first = liveRows(liveRows(null, [], free), [row(1)], read);
  expect([ids(first.rows), first.waiting]).toEqual([['a1'], 0]);
});

test('while somebody reads, new rows wait and states change in place', () => {
  const before = liveRows(null, [row(2), row(1)], free);
  const after = liveRows(before, [row(4), row(3), row(2, 'parsed'), row(1)], read);
  expect([ids(after.rows), after.waiting]).toEqual([['a2', 'a1'], 2]);
  expect(after.rows[0]!.status).toBe('parsed');
  const later = liveRows(after, [row(5), row(4), row(3), row(2, 'parsed'), row(1)], free);
  expect([ids(later.rows), later.waiting]).toEqual([['a5', 'a4', 'a3', 'a2', 'a1'], 0]);
});

test('a row that no filter finds any more stays and says so; one pushed off stays as it is', () => {
  const before = liveRows(null, [row(3), row(2), row(1)], free);
  const gone = liveRows(before, [row(3), row(1)], read);
  expect([ids(gone.rows), [...gone.left]]).toEqual([['a3', 'a2', 'a1'], ['a2']]);
  const pushed = liveRows(before, [row(5), row(4), row(3)], { full: true, mayMove: false });
  expect([ids(pushed.rows), [...pushed.left], pushed.waiting]).toEqual([
    ...[['a3', 'a2', 'a1'], [], 2],
  ]);
});

test('a filter stands in the address, and a change of it begins with the first page', () => {
  const filter = filterIn({ status: 'parsed', before: '1-2', key: '', foreign: 'x' });
  expect(filter).toEqual({ status: 'parsed', before: '1-2' });
  expect(listAddress('S', filter, { sandbox: 'true' })).toBe(
    '/sources/S/deliveries?status=parsed&sandbox=true',
  );
  expect(listAddress('S', filter, { before: '3-4' })).toBe(
    '/sources/S/deliveries?status=parsed&before=3-4',
  );
  expect(listAddress('S', filter, { status: '' })).toBe('/sources/S/deliveries');
  const from = '2026-01-02T03:04:00.000Z';
  expect(asQuery({ from, to: from, key: 'k' })).toEqual({
    ...{ received_from: from, received_before: from, key: 'k' },
  });
});

test("a time is chosen by the reader's own clock", () => {
  const at = '2026-07-01T10:30:00.000Z';
  expect(fromLocal(asLocal(at))).toBe(at);
  expect([asLocal(undefined), asLocal('nonsense'), fromLocal('')]).toEqual(['', '', '']);
});
