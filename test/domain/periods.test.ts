import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateOf, dayOf, mondayOf } from '../../src/domain/days.ts';
import type { Grain } from '../../src/domain/nouns.ts';
import { dayToText, readPeriod, textToDay } from '../../src/domain/periods.ts';
import { zoneOf } from '../../src/domain/timezone.ts';

function read(text: string, grain: Grain = 'day', zone = 'UTC'): string {
  const day = readPeriod(text, grain, zoneOf(zone));
  return typeof day === 'string' ? day : dayToText(day);
}

describe('a day number', () => {
  test('agrees with Date on every day of the years 0001 to 9999 that is tried', () => {
    const days = fc.integer({ min: dayOf(1, 1, 1), max: dayOf(9999, 12, 31) });
    fc.assert(
      fc.property(days, (day) => {
        const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
        expect(dayToText(day)).toBe(text);
        expect(textToDay(text)).toBe(day);
        expect(new Date(mondayOf(day) * 86_400_000).getUTCDay()).toBe(1);
        expect(day - mondayOf(day)).toBeGreaterThanOrEqual(0);
        expect(day - mondayOf(day)).toBeLessThan(7);
      }),
      { numRuns: 2_000 },
    );
  });

  test('agrees with Date on every day from 1890 to 2310', () => {
    for (let day = dayOf(1890, 1, 1); day <= dayOf(2310, 1, 1); day++) {
      const date = new Date(day * 86_400_000);
      const { year, month, dayOfMonth } = dateOf(day);
      const same =
        year === date.getUTCFullYear() &&
        month === date.getUTCMonth() + 1 &&
        dayOfMonth === date.getUTCDate() &&
        dayOf(year, month, dayOfMonth) === day;
      if (!same) expect.fail(`day ${day} reads as ${year}-${month}-${dayOfMonth}`);
    }
  });

  test.each(['0000-01-01', '2026-02-30', '1900-02-29', '2023-13-01', '2023-00-01', '2023-01-00'])(
    '%s is no date',
    (text) => expect(textToDay(text)).toBeNull(),
  );

  test.each([
    '2023-1-01',
    '2023-01-1',
    '+2023-01-01',
    '2023/01/01',
    '２０２３-01-01',
    '',
    ' 2023-01-01',
  ])('%j is not written as a date', (text) => expect(textToDay(text)).toBeNull());

  test('the first and the last of the years 0001 to 9999 are dates', () => {
    expect(dayToText(textToDay('0001-01-01')!)).toBe('0001-01-01');
    expect(dayToText(textToDay('9999-12-31')!)).toBe('9999-12-31');
  });
});

describe('period text gives the first day of its period', () => {
  test.each<[string, Grain, string]>([
    ['2024-02-29', 'day', '2024-02-29'],
    ['2024-02-29', 'week', '2024-02-26'],
    ['2024-02-29', 'month', '2024-02-01'],
    ['2024-05-31', 'quarter', '2024-04-01'],
    ['2024-12-31', 'year', '2024-01-01'],
    ['2024-12-31', 'week', '2024-12-30'],
    ['2024-03', 'month', '2024-03-01'],
    ['2024-03', 'quarter', '2024-01-01'],
    ['2024-03', 'year', '2024-01-01'],
    ['2024-Q4', 'quarter', '2024-10-01'],
    ['2024-Q4', 'year', '2024-01-01'],
    ['2024-W01', 'week', '2024-01-01'],
    ['2020-W53', 'week', '2020-12-28'],
    ['2021-W01', 'week', '2021-01-04'],
    ['2024', 'year', '2024-01-01'],
    ['1900-01-01', 'day', '1900-01-01'],
    ['2299-12-31', 'day', '2299-12-31'],
    ['1969-12-31', 'week', '1969-12-29'],
  ])('%s by %s is %s', (text, grain, start) => {
    expect(read(text, grain)).toBe(start);
  });
});

describe('period text wider than its grain, or not within one period, is refused', () => {
  test.each<[string, Grain]>([
    ['2024-03', 'day'],
    ['2024-03', 'week'],
    ['2024-Q1', 'day'],
    ['2024-Q1', 'week'],
    ['2024-Q1', 'month'],
    ['2024', 'day'],
    ['2024', 'week'],
    ['2024', 'month'],
    ['2024', 'quarter'],
    ['2024-W10', 'day'],
    ['2024-W10', 'month'],
    ['2024-W10', 'quarter'],
    ['2024-W10', 'year'],
  ])('%s by %s', (text, grain) => {
    expect(read(text, grain)).toBe('period_grain_mismatch');
  });
});

describe('period text is invalid', () => {
  test.each<[string, Grain]>([
    ['2026-02-30', 'day'],
    ['2023-02-29', 'day'],
    ['2024-13', 'month'],
    ['2024-00', 'month'],
    ['2024-Q5', 'quarter'],
    ['2024-Q0', 'quarter'],
    ['2024-q1', 'quarter'],
    ['2024-W00', 'week'],
    ['2021-W53', 'week'],
    ['2024-W54', 'week'],
    ['2024-w10', 'week'],
    ['24', 'year'],
    ['20244', 'year'],
    ['2024-1', 'month'],
    ['202401', 'month'],
    [' 2024-01-01', 'day'],
    ['2024-01-01 ', 'day'],
    ['01/02/2024', 'day'],
    ['2024-01-01T', 'day'],
    ['2024-01-01 10:00:00', 'day'],
    ['2024-01-01T10:00', 'day'],
    ['2024-01-01T10:00Z', 'day'],
    ['2024-01-01T24:00:00Z', 'day'],
    ['2024-01-01T23:60:00Z', 'day'],
    ['2024-01-01T10:00:00.Z', 'day'],
    ['2024-01-01T10:00:00,5Z', 'day'],
    ['2024-01-01T10:00:00+1:00', 'day'],
    ['2024-01-01T10:00:00+0100', 'day'],
    ['2024-01-01T10:00:00+24:00', 'day'],
    ['2024-01-01T10:00:00+01:60', 'day'],
    ['2024-01-01T10:00:00Z\n', 'day'],
    ['2024-02-30T10:00:00Z', 'day'],
    ['2024-01-01T12:30:60Z', 'day'],
    ['2024-01-15T23:59:60Z', 'day'],
    ['2016-12-31T23:59:60', 'day'],
    ['2016-12-31T23:59:61Z', 'day'],
    ['now', 'day'],
    ['1704067200', 'day'],
  ])('%j by %s', (text, grain) => {
    expect(read(text, grain)).toBe('period_invalid');
  });
});

describe('a period that begins outside 1900-01-01 to 2299-12-31 is out of range', () => {
  test.each<[string, Grain]>([
    ['1899-12-31', 'day'],
    ['2300-01-01', 'day'],
    ['0000-02-29', 'day'],
    ['9999-12-31', 'day'],
    ['1899-12', 'month'],
    ['2300', 'year'],
    ['1899-W52', 'week'],
    ['1900-01-01T00:00:00+01:00', 'day'],
  ])('%s by %s', (text, grain) => {
    expect(read(text, grain)).toBe('period_out_of_range');
  });

  test('which only the first day decides', () => {
    expect(read('2299-12-31T23:59:59-10:00', 'year')).toBe('period_out_of_range');
    expect(read('2299-W52', 'week')).toBe('2299-12-25');
    expect(read('2299-12-31', 'week')).toBe('2299-12-25');
  });
});

describe('a date-time lands on the company’s day', () => {
  test.each<[string, string, string]>([
    ['2024-01-01T10:00:00', 'Europe/Berlin', '2024-01-01'],
    ['2024-01-01T23:59:59.999999999999', 'Asia/Tokyo', '2024-01-01'],
    ['2024-01-01t10:00:00z', 'UTC', '2024-01-01'],
    ['2024-01-01T10:00:00-00:00', 'UTC', '2024-01-01'],
    ['2024-01-01T23:00:00Z', 'Europe/Berlin', '2024-01-02'],
    ['2024-01-01T22:59:59.999Z', 'Europe/Berlin', '2024-01-01'],
    ['2024-07-01T22:00:00Z', 'Europe/Berlin', '2024-07-02'],
    ['2024-07-01T21:59:59Z', 'Europe/Berlin', '2024-07-01'],
    // Berlin goes from +01:00 to +02:00 at 2024-03-31T01:00:00Z, so its Sunday has 23 hours.
    ['2024-03-30T23:00:00Z', 'Europe/Berlin', '2024-03-31'],
    ['2024-03-31T21:59:59Z', 'Europe/Berlin', '2024-03-31'],
    ['2024-03-31T22:00:00Z', 'Europe/Berlin', '2024-04-01'],
    ['2024-03-31T02:30:00', 'Europe/Berlin', '2024-03-31'],
    ['2024-10-27T22:59:59Z', 'Europe/Berlin', '2024-10-27'],
    ['2024-10-27T23:00:00Z', 'Europe/Berlin', '2024-10-28'],
    ['2024-03-10T04:59:59Z', 'America/New_York', '2024-03-09'],
    ['2024-03-10T05:00:00Z', 'America/New_York', '2024-03-10'],
    ['2024-03-11T03:59:59Z', 'America/New_York', '2024-03-10'],
    ['2024-03-11T04:00:00Z', 'America/New_York', '2024-03-11'],
    ['2024-01-01T18:14:59Z', 'Asia/Kathmandu', '2024-01-01'],
    ['2024-01-01T18:15:00Z', 'Asia/Kathmandu', '2024-01-02'],
    // Samoa had no 2011-12-30: it went from 29th to 31st at 2011-12-30T10:00:00Z.
    ['2011-12-30T09:59:59Z', 'Pacific/Apia', '2011-12-29'],
    ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-30'],
    // Liberia was 44 minutes and 30 seconds behind Greenwich until 1972.
    ['1970-01-01T00:44:29Z', 'Africa/Monrovia', '1969-12-31'],
    ['1970-01-01T00:44:30Z', 'Africa/Monrovia', '1970-01-01'],
    ['2024-01-01T10:00:00+14:00', 'Pacific/Pago_Pago', '2023-12-31'],
    ['2016-12-31T23:59:60Z', 'UTC', '2016-12-31'],
    ['2017-01-01T05:29:60.5+05:30', 'UTC', '2016-12-31'],
    ['2016-12-31T23:59:60Z', 'Europe/Berlin', '2017-01-01'],
  ])('%s in %s is %s', (text, zone, day) => {
    expect(read(text, 'day', zone)).toBe(day);
  });

  test('and by month on that day’s month', () => {
    expect(read('2000-01-01T00:30:00Z', 'month', 'America/Los_Angeles')).toBe('1999-12-01');
  });
});
