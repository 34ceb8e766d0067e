import { firstDay } from './days.ts';
import { limits } from './limits.ts';
import { textToDay } from './periods.ts';

/** What a read answers for; days since 1970-01-01, `toDay` being the day after the last. */
export interface ReadWindow {
  readonly fromDay: number;
  readonly toDay: number;
  /** The asked `from` was further back than the window reaches. */
  readonly narrowed: boolean;
}

export interface WindowProblem {
  readonly field: 'from' | 'to';
  readonly message: string;
}

/**
 * Finds the window of a read (specification, GET /v1/samples; DECISIONS 8).
 *
 * @param asked `from` and `to` as they stand in the query: strict `YYYY-MM-DD` of the years
 *   0001–9999, or absent
 * @param today the day in the company's zone
 */
export function readWindow(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: number,
): ReadWindow | WindowProblem {
  const from = asked.from === undefined ? undefined : textToDay(asked.from);
  if (from === null) return notADate('from');
  const to = asked.to === undefined ? today + 1 : textToDay(asked.to);
  if (to === null) return notADate('to');
  if ((from ?? firstDay) >= to) {
    return { field: 'from', message: 'from must be a day before to.' };
  }
  const reach = Math.max(to - limits.windowDaysMax, firstDay);
  const narrowed = from !== undefined && from < reach;
  return { fromDay: from === undefined || narrowed ? reach : from, toDay: to, narrowed };
}

function notADate(field: 'from' | 'to'): WindowProblem {
  return { field, message: `${field} must be a date, written YYYY-MM-DD.` };
}
