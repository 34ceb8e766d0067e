import { dateOf, dayAtStart, dayOf, daysInMonth, digits, firstDay, mondayOf } from './days.ts';
import type { Grain } from './nouns.ts';
import type { Zone } from './timezone.ts';

export type PeriodProblem = 'period_invalid' | 'period_grain_mismatch' | 'period_out_of_range';

/** `period_start` lies between these days, both included (DECISIONS 2). */
export const periodStartMin = dayOf(1900, 1, 1);
export const periodStartMax = dayOf(2299, 12, 31);

/**
 * Reads a period's text: the day its period of that grain begins, in days since 1970-01-01, or
 * why it cannot be (DECISIONS 2).
 *
 * Plain forms are days of the company: `YYYY-MM-DD` for every grain, `YYYY-MM`, `YYYY-Qn` and
 * `YYYY` where they lie within one period of the grain, `YYYY-Www` (ISO 8601) for weeks only.
 *
 * Date-times are RFC 3339's, for every grain. One with an offset is moved into the company's
 * zone; one without is company time, so its date is the day, even at an hour that a clock change
 * left out. Lower case `t` and `z` are taken, a space for the `T` is not; seconds must be there;
 * a fraction of any length may; `24:00` does not exist. Second 60 is taken where leap seconds
 * are, at 23:59:60 UTC on the last day of a month, and belongs to that day; without an offset
 * it names no such instant and is refused.
 */
export function readPeriod(text: string, grain: Grain, zone: Zone): number | PeriodProblem {
  if (text.length === 10) {
    const day = dayAtStart(text);
    return day === null ? 'period_invalid' : startIn(grain, day);
  }
  if (text.length > 10) {
    const day = dateTimeDay(text, zone);
    return day === null ? 'period_invalid' : startIn(grain, day);
  }
  return shortForm(text, grain);
}

/** The day number of a `YYYY-MM-DD` of the years 0001–9999; null when it is no such day. */
export function textToDay(text: string): number | null {
  if (text.length !== 10) return null;
  const day = dayAtStart(text);
  return day === null || day < firstDay ? null : day;
}

/** The `YYYY-MM-DD` of a day of the years 0000–9999. */
export function dayToText(day: number): string {
  const { year, month, dayOfMonth } = dateOf(day);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(dayOfMonth, 2)}`;
}

/** The first day of the period of that grain in which a day lies. */
export function periodStart(grain: Grain, day: number): number {
  if (grain === 'day') return day;
  if (grain === 'week') return mondayOf(day);
  const { year, month } = dateOf(day);
  if (grain === 'year') return dayOf(year, 1, 1);
  return dayOf(year, grain === 'month' ? month : month - ((month - 1) % 3), 1);
}

function startIn(grain: Grain, day: number): number | PeriodProblem {
  const start = periodStart(grain, day);
  return start < periodStartMin || start > periodStartMax ? 'period_out_of_range' : start;
}

const withinYear: readonly Grain[] = ['year'];
const withinQuarter: readonly Grain[] = ['quarter', 'year'];
const withinMonth: readonly Grain[] = ['month', 'quarter', 'year'];
const withinWeek: readonly Grain[] = ['week'];

/** `YYYY`, `YYYY-MM`, `YYYY-Qn` and `YYYY-Www`. */
function shortForm(text: string, grain: Grain): number | PeriodProblem {
  const year = digits(text, 0, 4);
  if (year < 0) return 'period_invalid';
  if (text.length === 4) return within(withinYear, grain, dayOf(year, 1, 1));
  if (text[4] !== '-') return 'period_invalid';

  if (text.length === 7 && text[5] === 'Q') {
    const quarter = digits(text, 6, 7);
    if (quarter < 1 || quarter > 4) return 'period_invalid';
    return within(withinQuarter, grain, dayOf(year, quarter * 3 - 2, 1));
  }
  if (text.length === 7) {
    const month = digits(text, 5, 7);
    if (month < 1 || month > 12) return 'period_invalid';
    return within(withinMonth, grain, dayOf(year, month, 1));
  }
  if (text.length === 8 && text[5] === 'W') {
    const monday = weekStart(year, digits(text, 6, 8));
    return monday === null ? 'period_invalid' : within(withinWeek, grain, monday);
  }
  return 'period_invalid';
}

function within(grains: readonly Grain[], grain: Grain, day: number): number | PeriodProblem {
  return grains.includes(grain) ? startIn(grain, day) : 'period_grain_mismatch';
}

/** The Monday of an ISO week; week 1 is the one with January 4th in it (ISO 8601). */
function weekStart(year: number, week: number): number | null {
  const first = mondayOf(dayOf(year, 1, 4));
  const monday = first + (week - 1) * 7;
  if (week < 1 || monday >= mondayOf(dayOf(year + 1, 1, 4))) return null;
  return monday;
}

const dateTime = /^.{10}[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:([Zz])|([+-])(\d\d):(\d\d))?$/;

/** The company's day of a date-time; null when it is none. */
function dateTimeDay(text: string, zone: Zone): number | null {
  const day = dayAtStart(text);
  const match = day === null ? null : dateTime.exec(text);
  if (day === null || match === null) return null;
  const [, hour, minute, second, utc, sign, offsetHour, offsetMinute] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  const leap = second === '60';
  if (utc === undefined && sign === undefined) return leap ? null : day;

  let offset = 0;
  if (sign !== undefined) {
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
    offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60 : 60);
  }
  // A fraction never decides the day: offsets and days are whole seconds.
  const time = Number(hour) * 3600 + Number(minute) * 60 + (leap ? 59 : Number(second));
  const instant = day * 86_400 + time - offset;
  if (leap && !endsMonth(instant)) return null;
  return zone.dayAt(instant * 1000);
}

/** Whether a second is the last of a month in UTC. */
function endsMonth(second: number): boolean {
  const day = Math.floor(second / 86_400);
  if (second - day * 86_400 !== 86_399) return false;
  const { year, month, dayOfMonth } = dateOf(day);
  return dayOfMonth === daysInMonth(year, month);
}

function pad(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
