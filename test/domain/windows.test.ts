import { describe, expect, test } from 'vitest';
import { dayToText, textToDay } from '../../src/domain/periods.ts';
import { readWindow } from '../../src/domain/windows.ts';

const today = textToDay('2026-05-10')!;

function window(from?: string, to?: string) {
  const found = readWindow({ from, to }, today);
  if ('field' in found) return found.field;
  const { fromDay, toDay, narrowed } = found;
  return `${dayToText(fromDay)} ${dayToText(toDay)}${narrowed ? ' narrowed' : ''}`;
}

describe('a read window', () => {
  test.each<[string, string | undefined, string | undefined, string]>([
    ['reaches 731 days back from tomorrow', undefined, undefined, '2024-05-10 2026-05-11'],
    ['ends before to', undefined, '2024-03-01', '2022-03-01 2024-03-01'],
    ['begins at from', '2026-05-01', undefined, '2026-05-01 2026-05-11'],
    ['may be one day', '2026-05-10', '2026-05-11', '2026-05-10 2026-05-11'],
    ['may lie in the future', '2030-01-01', '2030-02-01', '2030-01-01 2030-02-01'],
    ['of just 731 days is not narrowed', '2024-05-10', undefined, '2024-05-10 2026-05-11'],
    ['is narrowed past 731 days', '2024-05-09', undefined, '2024-05-10 2026-05-11 narrowed'],
    ['is narrowed from far back', '0001-01-01', undefined, '2024-05-10 2026-05-11 narrowed'],
    ['stops at the first day there is', undefined, '0002-01-01', '0001-01-01 0002-01-01'],
    ['is not narrowed there', '0001-01-01', '0002-01-01', '0001-01-01 0002-01-01'],
    ['may end at the last day there is', '9999-12-30', '9999-12-31', '9999-12-30 9999-12-31'],
  ])('%s', (_, from, to, expected) => {
    expect(window(from, to)).toBe(expected);
  });

  test.each<[string, string | undefined, string | undefined, string]>([
    ['from that is no date', 'yesterday', undefined, 'from'],
    ['from that does not exist', '2026-02-30', undefined, 'from'],
    ['from with a time', '2026-05-01T00:00:00Z', undefined, 'from'],
    ['empty from', '', undefined, 'from'],
    ['to that is no date', undefined, '2026-5-1', 'to'],
    ['to of the year 0000', undefined, '0000-12-31', 'to'],
    ['from equal to to', '2026-05-01', '2026-05-01', 'from'],
    ['from after to', '2026-05-02', '2026-05-01', 'from'],
    ['from after tomorrow, to unset', '2026-05-11', undefined, 'from'],
    ['to before which there is no day', undefined, '0001-01-01', 'from'],
  ])('is refused for a %s', (_, from, to, field) => {
    expect(window(from, to)).toBe(field);
  });
});
