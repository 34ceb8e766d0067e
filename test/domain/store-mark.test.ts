import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { isExpired, mayBeForgotten, receivedAtOf } from '../../src/domain/recovery.ts';
import { decodeMark, encodeMark, judgeMark } from '../../src/domain/store-mark.ts';

const catalog = { catalogId: 'a', sequence: 7 };
const mark = (over: object = {}) => encodeMark({ ...catalog, recovering: false, ...over });

describe('a mark', () => {
  test('reads back as it was written', () => {
    const marks = fc.record({
      catalogId: fc.string(),
      sequence: fc.nat(),
      recovering: fc.boolean(),
    });
    fc.assert(
      fc.property(marks, (one) => {
        expect(decodeMark(encodeMark(one))).toEqual(one);
      }),
    );
  });

  test('that is something else is none', () => {
    const texts = ['', '{', 'null', '[]', '7', '"x"', '{}', mark().replace('7', '"7"')];
    for (const text of texts) expect([text, decodeMark(text)]).toEqual([text, null]);
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(decodeMark(text)).toBeNull();
      }),
    );
  });

  test.each([
    ['a new store', null, 'fits'],
    ['the same sequence', mark(), 'fits'],
    ['a lower one: the last receipts came after it', mark({ sequence: 3 }), 'fits'],
    ['a greater one: the catalog was restored', mark({ sequence: 8 }), 'behind'],
    ['a recovery that was cut short', mark({ sequence: 3, recovering: true }), 'behind'],
    ['another catalog, whatever its sequence', mark({ catalogId: 'b', sequence: 1 }), 'foreign'],
    ['no mark', 'x', 'damaged'],
  ])('of %s says so', (_, text, fit) => {
    expect(judgeMark(text, catalog)).toBe(fit);
  });
});

describe('an orphan', () => {
  const at = Date.UTC(2026, 10, 20, 12);
  const hex = at.toString(16).padStart(12, '0');
  const object = `2026/11/20/${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`;

  test('tells by its name when it was received', () => {
    expect(receivedAtOf(object)).toBe(at);
  });

  test.each([
    ['stored after the newest delivery', 1, at - 1, true],
    ['stored shortly before, as clocks differ', 0, at + limits.recoverClocksDifferMs - 1, true],
    ['stored long before', 0, at + limits.recoverClocksDifferMs, false],
    ['stored now, received a day before', 1e9, at + limits.recoverUploadMsMax, false],
  ])('%s may be of a forgotten delivery: %#', (_, later, newest, forgotten) => {
    expect(mayBeForgotten({ object, storedAt: at + later }, newest)).toBe(forgotten);
  });

  test('may be forgotten by a catalog without deliveries', () => {
    expect(mayBeForgotten({ object, storedAt: 0 }, null)).toBe(true);
  });

  test('expires after 30 days by the clock of its store, not before', () => {
    const days = 30 * 86_400_000;
    expect(isExpired({ object, storedAt: at }, at + days)).toBe(false);
    expect(isExpired({ object, storedAt: at }, at + days + 1)).toBe(true);
  });
});
