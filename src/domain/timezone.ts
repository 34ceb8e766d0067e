import { dayOf } from './days.ts';

const dayMs = 86_400_000;

/** Tells a zone's days; made once for each zone and kept, for `Intl` is slow to make and to ask. */
export interface Zone {
  /** The day, in the zone, of an instant: milliseconds since 1970 to days since 1970-01-01. */
  dayAt(ms: number): number;
}

const zones = new Map<string, Zone>();
const zonesKeptMax = 200;

/** Whether a text names a zone of the IANA database as this runtime knows it. */
export function isZone(name: string): boolean {
  // A bare offset such as +01:00 is understood by Intl but is no zone of the database.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatter(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The days of a zone. Throws a RangeError when there is no such zone (`isZone`). */
export function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    if (zones.size >= zonesKeptMax) zones.clear();
    zone = makeZone(name);
    zones.set(name, zone);
  }
  return zone;
}

/** The day, in a zone, of an instant; today, when `ms` is now. */
export function dayInZone(ms: number, zone: string): number {
  return zoneOf(zone).dayAt(ms);
}

/**
 * A UTC day's offset from UTC in seconds: `before`, and from the instant `at` on `after`. Zones
 * change their offset at most once in a UTC day (so it is throughout the IANA database), so two
 * questions to `Intl` answer for a day without a change, and a bisection finds the second of one.
 */
interface DayOffsets {
  readonly before: number;
  readonly at: number;
  readonly after: number;
}

function makeZone(name: string): Zone {
  const format = formatter(name);
  const known = new Map<number, DayOffsets>();
  const utc = name === 'UTC' || name === 'Etc/UTC';

  return {
    dayAt(ms) {
      const utcDay = Math.floor(ms / dayMs);
      // No zone has ever been a whole day and more from UTC; outside these years no period lies.
      if (utc || utcDay < offsetsFrom || utcDay > offsetsTo) return utcDay;
      let offsets = known.get(utcDay);
      if (offsets === undefined) {
        offsets = offsetsOf(format, utcDay * (dayMs / 1000));
        known.set(utcDay, offsets);
      }
      const seconds = Math.floor(ms / 1000);
      const offset = seconds < offsets.at ? offsets.before : offsets.after;
      return Math.floor((seconds + offset) / 86_400);
    },
  };
}

const offsetsFrom = dayOf(1890, 1, 1);
const offsetsTo = dayOf(2310, 1, 1);

function offsetsOf(format: Intl.DateTimeFormat, start: number): DayOffsets {
  const before = offsetAt(format, start);
  const after = offsetAt(format, start + 86_400);
  let low = start;
  let at = start + 86_400;
  while (before !== after && at - low > 1) {
    const middle = Math.floor((low + at) / 2);
    if (offsetAt(format, middle) === before) low = middle;
    else at = middle;
  }
  return { before, at, after };
}

/** Offset from UTC in seconds: local wall time read as if it were UTC, less the instant. */
function offsetAt(format: Intl.DateTimeFormat, seconds: number): number {
  const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of format.formatToParts(seconds * 1000)) {
    if (type in parts) parts[type as keyof typeof parts] = Number(value);
  }
  const { year, month, day, hour, minute, second } = parts;
  return dayOf(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - seconds;
}

function formatter(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}
