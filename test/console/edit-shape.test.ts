import { describe, expect, test } from 'vitest';
import {
  compareFields,
  declaredFields,
  editedFields,
  emptyField,
  moved,
  problemOf,
} from '../../src/console/edit-shape.ts';
import type { Field } from '../../src/domain/nouns.ts';

const metrics = [{ key: 'mrr', name: 'MRR', unit: 'EUR', labels: ['plan'] }];
const fields: readonly Field[] = [
  { name: 'month', role: 'period', grain: 'month' },
  { name: 'amount', role: 'value', metric: 'mrr' },
  { name: 'tier', role: 'label', label: 'plan', required: false },
  { name: 'email', personal: true },
];

describe('a shape that is edited', () => {
  test('declares what it was made of, when nothing was changed', () => {
    expect(declaredFields(editedFields(fields))).toEqual(fields);
  });

  test('declares nothing that its role does not have, and no default', () => {
    const [edited] = editedFields([fields[0]!]);
    const value = { ...edited!, role: 'value', metric: 'mrr', label: 'left from before' } as const;
    expect(declaredFields([value])).toEqual([{ name: 'month', role: 'value', metric: 'mrr' }]);
    expect(declaredFields([{ ...edited!, grain: 'day' }])).toEqual([
      { name: 'month', role: 'period' },
    ]);
  });

  test.each([
    ['period_missing', (all: Field[]) => all.slice(1), null],
    ['name_invalid', (all: Field[]) => [...all, { name: '' }], 4],
    ['field_twice', (all: Field[]) => [...all, { name: 'month' }], 4],
    ['label_missing', (all: Field[]) => all.toSpliced(2, 1), 1],
    ['metric_undeclared', (all: Field[]) => all.with(1, { ...all[1]!, metric: 'x' }), 1],
  ])('has the problem %s named at the field', (code, change, at) => {
    const edited = editedFields(change([...fields]));
    const id = at === null ? null : edited[at]!.id;
    expect(problemOf(edited, metrics)).toMatchObject({ code, id });
    expect(problemOf(editedFields(fields), metrics)).toBeNull();
  });

  test('has fields that move by one, and not beyond an end', () => {
    expect(moved(['a', 'b', 'c'], 2, -1)).toEqual(['a', 'c', 'b']);
    expect(moved(['a', 'b'], 0, 1)).toEqual(['b', 'a']);
    expect(moved(['a', 'b'], 0, -1)).toEqual(['a', 'b']);
    expect(moved(['a', 'b'], 1, 1)).toEqual(['a', 'b']);
  });

  test('keeps two new fields apart', () => {
    expect(emptyField().id).not.toBe(emptyField().id);
  });
});

describe('two versions side by side', () => {
  const kinds = (before: readonly Field[], after: readonly Field[]) =>
    compareFields(before, after).map(({ name, kind }) => [name, kind]);

  test('tell what was added, removed, changed and moved', () => {
    const after: Field[] = [
      { name: 'amount', role: 'value', metric: 'mrr' },
      { name: 'month', role: 'period', grain: 'month' },
      { name: 'email' },
      { name: 'plan', role: 'label' },
    ];
    expect(kinds(fields, after)).toEqual([
      ['amount', 'moved'],
      ['month', 'moved'],
      ['tier', 'removed'],
      ['email', 'changed'],
      ['plan', 'added'],
    ]);
  });

  test('are the same where a default is written out', () => {
    const written: Field[] = [{ ...fields[0]!, required: true }, ...fields.slice(1)];
    expect(kinds(fields, written).every(([, kind]) => kind === 'same')).toBe(true);
  });

  test('keep what stands between two fields of which one was removed', () => {
    expect(kinds(fields, fields.slice(1))).toEqual([
      ['month', 'removed'],
      ['amount', 'same'],
      ['tier', 'same'],
      ['email', 'same'],
    ]);
  });
});
