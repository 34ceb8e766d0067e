import { describe, expect, test } from 'vitest';
import type { Field, Metric } from '../../src/domain/nouns.ts';
import { compileShape } from '../../src/domain/shape-plan.ts';
import { validateShape } from '../../src/domain/shapes.ts';

const metric = (key: string, labels: string[] = []): Metric => ({
  key,
  name: key,
  unit: 'x',
  labels,
});
const metrics = [metric('jobs'), metric('rain', ['station']), metric('wind', ['station', 'side'])];

const day: Field = { name: 'day', role: 'period' };
const jobs: Field = { name: 'jobs', role: 'value', metric: 'jobs' };
const rain: Field = { name: 'rain', role: 'value', metric: 'rain' };
const place: Field = { name: 'place', role: 'label', label: 'station' };
const key: Field = { name: 'key', role: 'metric' };
const amount: Field = { name: 'amount', role: 'value' };
const odd = (field: object) => field as Field;

describe('a shape is accepted', () => {
  test.each<[string, Field[]]>([
    ['with one period and one value', [day, jobs]],
    ['with a label field that is renamed to the metric’s label', [day, rain, place]],
    ['with a label that no metric carries', [day, jobs, { name: 'note', role: 'label' }]],
    ['with a period of each grain', [{ ...day, grain: 'quarter' }, jobs]],
    ['with fields that have no role, personal or not', [day, jobs, { name: 'a', personal: true }]],
    ['in long form', [day, key, amount]],
    ['in long form with labels for some metrics only', [day, key, amount, place]],
    ['with a field named __proto__', [day, jobs, { name: '__proto__' }]],
    ['with optional fields', [day, { ...jobs, required: false }]],
  ])('%s', (_, fields) => {
    expect(validateShape(fields, metrics)).toBeNull();
  });
});

describe('a shape is refused', () => {
  test.each<[string, Field[], string, string | null]>([
    ['without fields', [], 'period_missing', null],
    ['without a period', [jobs], 'period_missing', null],
    ['with two periods', [day, { name: 'd2', role: 'period' }, jobs], 'period_twice', 'd2'],
    ['without a value', [day], 'value_missing', null],
    ['with a metric field but no value', [day, key], 'value_missing', 'key'],
    ['with a value of no metric and no metric field', [day, amount], 'metric_missing', 'amount'],
    [
      'with two values in long form',
      [day, key, amount, odd({ ...amount, name: 'a2' })],
      'value_twice',
      'a2',
    ],
    [
      'with two metric fields',
      [day, key, odd({ ...key, name: 'k2' }), amount],
      'metric_field_twice',
      'k2',
    ],
    ['with a metric field beside wide values', [day, jobs, key], 'wide_and_long', 'key'],
    ['with wide and long values', [day, jobs, amount], 'wide_and_long', 'amount'],
    ['with a metric nobody declared', [day, { ...jobs, metric: 'x' }], 'metric_undeclared', 'jobs'],
    ['that holds a metric twice', [day, jobs, { ...jobs, name: 'j2' }], 'metric_twice', 'j2'],
    ['without a field for a metric’s label', [day, rain], 'label_missing', 'rain'],
    [
      'that gives one label twice',
      [day, rain, place, { name: 'station', role: 'label' }],
      'label_twice',
      'station',
    ],
    ['with two fields of one name', [day, jobs, { name: 'day' }], 'field_twice', 'day'],
    ['with an empty name', [day, jobs, { name: '' }], 'name_invalid', ''],
    ['with a name of 201 characters', [{ name: 'n'.repeat(201) }], 'name_invalid', 'n'.repeat(201)],
    ['with U+0000 in a name', [{ name: 'a\0' }], 'name_invalid', 'a\0'],
    ['with a lone surrogate in a name', [{ name: 'a\ud800' }], 'name_invalid', 'a\ud800'],
    ['with an empty label', [day, { ...place, label: '' }], 'label_invalid', 'place'],
    ['with a role for a personal field', [{ ...day, personal: true }], 'personal_role', 'day'],
    ['with an unknown role', [odd({ name: 'a', role: 'sum' })], 'role_unknown', 'a'],
    ['with an unknown grain', [odd({ ...day, grain: 'hour' })], 'grain_unknown', 'day'],
    ['with a grain on a value', [day, { ...jobs, grain: 'day' }], 'grain_misplaced', 'jobs'],
    ['with a metric on a label', [{ ...place, metric: 'jobs' }], 'metric_misplaced', 'place'],
    ['with a label on a period', [{ ...day, label: 'x' }], 'label_misplaced', 'day'],
  ])('%s', (_, fields, code, field) => {
    expect(validateShape(fields, metrics)).toMatchObject({ code, field });
  });
});

describe('a compiled shape', () => {
  test('sorts a metric’s labels by their UTF-8 bytes, not by UTF-16 units', () => {
    // U+FF5E sorts before U+1F600 in UTF-8, after it in UTF-16.
    const names = ['\u{1f600}', '\uff5e', 'b', 'a'];
    const labels = names.map((name): Field => ({ name, role: 'label' }));
    const plan = compileShape(
      [day, { name: 'v', role: 'value', metric: 'm' }, ...labels],
      [metric('m', names)],
    );
    expect(plan.labelSets).toEqual([
      { index: 0, names: ['a', 'b', '\uff5e', '\u{1f600}'], positions: [5, 4, 3, 2] },
    ]);
  });

  test('marks the metrics that a long shape has no labels for', () => {
    const plan = compileShape([day, key, amount, place], metrics);
    const able = plan.metrics.map(({ key, labelSet }) => [key, labelSet !== null]);
    expect(able).toEqual([
      ['jobs', true],
      ['rain', true],
      ['wind', false],
    ]);
  });
});
