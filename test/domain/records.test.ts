import { describe, expect, test } from 'vitest';
import type { Field, Metric } from '../../src/domain/nouns.ts';
import { dayToText } from '../../src/domain/periods.ts';
import { type Cell, notText, recordRules } from '../../src/domain/records.ts';
import { recordMessages } from '../../src/domain/rejections.ts';
import { compileShape } from '../../src/domain/shape-plan.ts';
import { validateShape } from '../../src/domain/shapes.ts';
import { Tally } from '../../src/domain/tally.ts';
import { zoneOf } from '../../src/domain/timezone.ts';

const metrics: Metric[] = [
  { key: 'sold', name: 'Sold', unit: 'pieces', labels: ['city', 'shop'] },
  { key: 'staff', name: 'Staff', unit: 'people', labels: ['city'] },
  { key: 'total', name: 'Total', unit: 'pieces', labels: [] },
];
const wide: Field[] = [
  { name: 'day', role: 'period' },
  { name: 'shop', role: 'label' },
  { name: 'town', role: 'label', label: 'city', required: false },
  { name: 'sold', role: 'value', metric: 'sold' },
  { name: 'staff', role: 'value', metric: 'staff', required: false },
  { name: 'note' },
];
const long: Field[] = [
  { name: 'day', role: 'period', grain: 'month', required: false },
  { name: 'city', role: 'label' },
  { name: 'what', role: 'metric' },
  { name: 'amount', role: 'value' },
];

function rules(fields: Field[]) {
  expect(validateShape(fields, metrics)).toBeNull();
  return recordRules(compileShape(fields, metrics), zoneOf('Europe/Berlin'));
}

function read(fields: Field[], ...cells: Cell[]) {
  const { problems, samples, blank } = rules(fields)(cells);
  return {
    problems: problems.map(({ field, code }) => `${field} ${code}`),
    samples: samples.map(
      ({ day, metric, labels, value }) => `${dayToText(day)} ${metric.key} ${labels.json} ${value}`,
    ),
    blank,
  };
}

describe('a wide record', () => {
  test('gives one sample for each value, with the labels its metric declares', () => {
    expect(read(wide, '2024-05-01', 's1', 'Köln', '10.50', '3', 'x')).toEqual({
      problems: [],
      samples: [
        '2024-05-01 sold {"city":"Köln","shop":"s1"} 10.50',
        '2024-05-01 staff {"city":"Köln"} 3',
      ],
      blank: 0,
    });
  });

  test.each<[string, Cell]>([
    ['empty text', ''],
    ['null', null],
    ['absent', undefined],
  ])('with a value that is %s gives no sample for it and counts it blank', (_, cell) => {
    const { samples, blank } = read(wide, '2024-05-01', 's1', 'Köln', '1', cell, 'x');
    expect(samples).toHaveLength(1);
    expect(blank).toBe(1);
  });

  test.each<[string, Cell]>([
    ['empty text', ''],
    ['null', null],
    ['absent', undefined],
  ])('with a label that is %s has the empty label', (_, cell) => {
    const { samples } = read(wide, '2024-05-01', 's1', cell, '1', '', 'x');
    expect(samples).toEqual(['2024-05-01 sold {"city":"","shop":"s1"} 1']);
  });

  test('with blanks for all its values is a good record without samples', () => {
    expect(read(wide, '2024-05-01', '', '', '', '', '')).toEqual({
      problems: [],
      samples: [],
      blank: 2,
    });
  });

  test('may have anything in a field without a role', () => {
    expect(read(wide, '2024-05-01', 's1', 'K', '1', '2', notText).samples).toHaveLength(2);
  });

  test('is rejected whole for one bad field', () => {
    expect(read(wide, '2024-05-01', 's1', 'K', '1', 'two', '')).toEqual({
      problems: ['staff value_not_decimal'],
      samples: [],
      blank: 0,
    });
  });

  test('has one problem for each bad field, in the order of the fields', () => {
    const cells: Cell[] = ['2026-02-30', 'x'.repeat(1025), notText, '1e5', '9'.repeat(77)];
    expect(read(wide, ...cells, undefined).problems).toEqual([
      'day period_invalid',
      'shop label_too_long',
      'town not_text',
      'sold value_not_decimal',
      'staff value_too_long',
      'note field_missing',
    ]);
  });

  test.each<[string, number, Cell, string]>([
    ['a blank period', 0, '', 'day period_blank'],
    ['a null period', 0, null, 'day period_blank'],
    ['an absent required period', 0, undefined, 'day field_missing'],
    ['a period that is no text', 0, notText, 'day not_text'],
    ['a period out of range', 0, '1899-12-31', 'day period_out_of_range'],
    ['a period wider than the grain', 0, '2024-05', 'day period_grain_mismatch'],
    ['a label that is no text', 1, notText, 'shop not_text'],
    ['an absent required label', 1, undefined, 'shop field_missing'],
    ['a value that is no text', 3, notText, 'sold not_text'],
    ['an absent required value', 3, undefined, 'sold field_missing'],
    ['an absent required field without a role', 5, undefined, 'note field_missing'],
  ])('is rejected for %s', (_, position, cell, problem) => {
    const cells: Cell[] = ['2024-05-01', 's1', 'K', '1', '2', 'x'];
    cells[position] = cell;
    expect(read(wide, ...cells)).toEqual({ problems: [problem], samples: [], blank: 0 });
  });
});

describe('a long record', () => {
  test('gives one sample of the metric that it names, with that metric’s labels', () => {
    expect(read(long, '2024-05-09', 'Köln', 'staff', '3').samples).toEqual([
      '2024-05-01 staff {"city":"Köln"} 3',
    ]);
    expect(read(long, '2024-05', 'Köln', 'total', '-0.00').samples).toEqual([
      '2024-05-01 total {} -0.00',
    ]);
  });

  test('with a blank value is good and counts one blank', () => {
    expect(read(long, '2024-05', 'K', 'total', '')).toEqual({
      problems: [],
      samples: [],
      blank: 1,
    });
  });

  test.each<[string, Cell[], string[]]>([
    ['a blank metric', ['2024-05', 'K', '', '1'], ['what metric_blank']],
    ['a null metric', ['2024-05', 'K', null, '1'], ['what metric_blank']],
    ['an undeclared metric', ['2024-05', 'K', 'Staff', '1'], ['what metric_undeclared']],
    ['a metric whose label it cannot give', ['2024-05', 'K', 'sold', '1'], ['what label_missing']],
    ['a blank metric, though the value is blank', ['2024-05', 'K', '', ''], ['what metric_blank']],
    ['an absent optional period', [undefined, 'K', 'total', '1'], ['day period_blank']],
  ])('is rejected for %s', (_, cells, problems) => {
    expect(read(long, ...cells)).toEqual({ problems, samples: [], blank: 0 });
  });
});

describe('the accounting of a delivery', () => {
  test('counts as superseded what a later record of the same identity replaces', () => {
    const judge = rules(wide);
    const tally = new Tally();
    const records: Cell[][] = [
      ['2024-05-01', 's1', 'K', '1', '1', ''],
      ['2024-05-01', 's2', 'K', '2', '2', ''],
      ['2024-05-01', 's1', 'K', '3', '', ''],
      ['2024-05-02', 's1', 'K', '4', '4', ''],
      ['2024-05-02', 's1', 'K', 'x', '5', ''],
      ['2024-05-01', 'K', 's1', '5', '5', ''],
    ];
    for (const cells of records) tally.add(judge(cells));
    // Sold: (1, s1, K) twice, four others. Staff: (1, K) twice, then day 2, then city s1.
    expect(tally.counts()).toEqual({
      records: 6,
      parsed: 5,
      rejected: 1,
      samples: 7,
      blank: 1,
      supersededWithin: 2,
    });
  });

  test('tells apart labels that would be one when joined', () => {
    const judge = rules(wide);
    const tally = new Tally();
    tally.add(judge(['2024-05-01', 'ab', 'c', '1', '', '']));
    tally.add(judge(['2024-05-01', 'a', 'bc', '1', '', '']));
    tally.add(judge(['2024-05-01', 'c', 'ab', '1', '', '']));
    expect(tally.counts()).toMatchObject({ samples: 3, supersededWithin: 0 });
  });
});

test('the messages of the rejections are one plain sentence each', () => {
  for (const message of Object.values(recordMessages)) {
    expect(message).toMatch(/^[A-Z][^.]*\.$/);
  }
});
