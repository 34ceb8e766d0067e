/**
 * Days as whole numbers since 1970-01-01, in the proleptic Gregorian calendar. Integer
 * arithmetic only: `Date` is slow here and knows two calendars' worth of surprises.
 */

const daysPer400Years = 146_097;
/** Days from 0000-03-01, where the 400-year cycle below begins, to 1970-01-01. */
const epochShift = 719_468;

/** The day number of a date. The date must exist (`daysInMonth`). */
export function dayOf(year: number, month: number, dayOfMonth: number): number {
  // Years begin in March here, so that a leap day is the last day of its year.
  const y = month > 2 ? year : year - 1;
  const cycle = Math.floor(y / 400);
  const yearOfCycle = y - cycle * 400;
  const dayOfYear =
    Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + dayOfMonth - 1;
  const leapDays = (yearOfCycle >> 2) - Math.floor(yearOfCycle / 100);
  return cycle * daysPer400Years + yearOfCycle * 365 + leapDays + dayOfYear - epochShift;
}

/** The date of a day number: the inverse of `dayOf`. */
export function dateOf(day: number): { year: number; month: number; dayOfMonth: number } {
  const shifted = day + epochShift;
  const cycle = Math.floor(shifted / daysPer400Years);
  const dayOfCycle = shifted - cycle * daysPer400Years;
  const yearOfCycle = Math.floor(
    (dayOfCycle -
      Math.floor(dayOfCycle / 1460) +
      Math.floor(dayOfCycle / 36_524) -
      Math.floor(dayOfCycle / 146_096)) /
      365,
  );
  const leapDays = (yearOfCycle >> 2) - Math.floor(yearOfCycle / 100);
  const dayOfYear = dayOfCycle - (yearOfCycle * 365 + leapDays);
  const m = Math.floor((5 * dayOfYear + 2) / 153);
  const month = m < 10 ? m + 3 : m - 9;
  const year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0);
  return { year, month, dayOfMonth: dayOfYear - Math.floor((153 * m + 2) / 5) + 1 };
}

/** How many days a month has; `month` from 1. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The Monday of a day's ISO week. */
export function mondayOf(day: number): number {
  // Day 0 was a Thursday, three days after its Monday.
  return day - ((((day + 3) % 7) + 7) % 7);
}

/**
 * The day number of the `YYYY-MM-DD` that a text begins with, years 0000–9999; null when there is
 * none.
 */
export function dayAtStart(text: string): number | null {
  if (text.charCodeAt(4) !== hyphen || text.charCodeAt(7) !== hyphen) return null;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const dayOfMonth = digits(text, 8, 10);
  if (year < 0 || month < 1 || month > 12 || dayOfMonth < 1) return null;
  if (dayOfMonth > daysInMonth(year, month)) return null;
  return dayOf(year, month, dayOfMonth);
}

/** The number that a stretch of ASCII digits writes; −1 when another character is among them. */
export function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    // Past the end charCodeAt gives NaN, which no comparison holds for.
    if (!(digit >= 0 && digit <= 9)) return -1;
    number = number * 10 + digit;
  }
  return number;
}

const hyphen = 0x2d;

/** 0001-01-01 */
export const firstDay = dayOf(1, 1, 1);
