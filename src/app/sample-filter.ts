import { AppError } from '../domain/app-errors.ts';
import { textToDay } from '../domain/periods.ts';
import type { SampleFilter, SamplePlace } from '../samples/explore-contract.ts';

/** A filter as the query of a request says it. */
export interface AskedFilter {
  readonly metric?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly sandbox?: boolean | undefined;
}

/** @throws AppError when the window has no day */
export function filterOf(sourceId: string, asked: AskedFilter): SampleFilter {
  const { metric, labels = {}, sandbox = false } = asked;
  const from = asked.from === undefined ? null : textToDay(asked.from);
  const to = asked.to === undefined ? null : textToDay(asked.to);
  if (from !== null && to !== null && from >= to) {
    throw new AppError('invalid_argument', 'from must be a day before to.', { field: 'from' });
  }
  return {
    ...{ sourceId, labels, sandbox },
    ...(metric === undefined ? {} : { metrics: [metric] }),
    ...(from === null ? {} : { fromDay: from }),
    ...(to === null ? {} : { toDay: to }),
  };
}

/** A place in the order of samples, as text that stands in an address. */
export function placeText({ day, metric, labelsJson, sandbox }: SamplePlace): string {
  return Buffer.from(JSON.stringify([day, metric, labelsJson, sandbox])).toString('base64url');
}

/** @throws AppError when it is no such text */
export function placeOf(text: string): SamplePlace {
  try {
    const [day, metric, labelsJson, sandbox] = JSON.parse(
      Buffer.from(text, 'base64url').toString(),
    );
    const texts = typeof metric === 'string' && typeof labelsJson === 'string';
    const isDay = Number.isInteger(day) && Math.abs(day) < 2 ** 31;
    if (isDay && texts && typeof sandbox === 'boolean') {
      return { day, metric, labelsJson, sandbox };
    }
  } catch {
    // Told below, as all else that is none.
  }
  const message = 'This must be `next` of the page before.';
  throw new AppError('invalid_argument', message, { field: 'after' });
}
