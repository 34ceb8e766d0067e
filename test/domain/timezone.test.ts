import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayOf } from '../../src/domain/days.ts';
import { dayToText } from '../../src/domain/periods.ts';
import { dayInZone, isZone } from '../../src/domain/timezone.ts';

const oracles = new Map<string, Intl.DateTimeFormat>();

/** The day that Intl itself prints. */
function oracle(ms: number, zone: string): string {
  let format = oracles.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    oracles.set(zone, format);
  }
  return format.format(ms);
}

const from = dayOf(1895, 1, 1) * 86_400_000;
const to = dayOf(2305, 1, 1) * 86_400_000;
const instants = fc.integer({ min: from, max: to });
const shiftingZones = [
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Tehran',
  'Africa/Monrovia',
  'Europe/Dublin',
];

describe('the day in a zone', () => {
  test('is the one that Intl prints, in every zone', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    fc.assert(
      fc.property(zones, instants, (zone, ms) => {
        expect(dayToText(dayInZone(ms, zone))).toBe(oracle(ms, zone));
      }),
      { numRuns: 3_000 },
    );
  });

  test.each(shiftingZones)('is the one that Intl prints around every midnight of %s', (zone) => {
    for (let year = 1905; year < 2045; year += 9) {
      for (let day = dayOf(year, 1, 1); day < dayOf(year + 1, 1, 1); day += 1) {
        // Three hours of each UTC day, one of which walks through it with the days.
        for (const hour of [0, day % 24, 23]) {
          const ms = (day * 24 + hour) * 3_600_000 + (day % 3600) * 1000;
          const found = dayToText(dayInZone(ms, zone));
          if (found !== oracle(ms, zone)) expect.fail(`${ms} in ${zone} is ${found}`);
        }
      }
    }
  });

  test('changes at the second, where the offset changes in the middle of a UTC day', () => {
    const change = Date.UTC(2011, 11, 30, 10);
    expect(dayToText(dayInZone(change - 1, 'Pacific/Apia'))).toBe('2011-12-29');
    expect(dayToText(dayInZone(change, 'Pacific/Apia'))).toBe('2011-12-31');
  });
});

describe('a zone’s name', () => {
  test.each(['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'asia/tokyo'])('%s is one', (name) => {
    expect(isZone(name)).toBe(true);
  });
  test.each(['', 'Mars/Olympus', '+01:00', 'Europe/Berlin '])('%j is none', (name) => {
    expect(isZone(name)).toBe(false);
  });
});
