import { assert } from '../std/assert.ts';
import { decimalProblem } from './decimals.ts';
import { LabelInterner, type Labels } from './label-sets.ts';
import { labelTooLong } from './labels.ts';
import { readPeriod } from './periods.ts';
import type { RecordCode, RecordProblem } from './rejections.ts';
import type { LabelSet, PlannedField, PlannedMetric, ShapePlan } from './shape-plan.ts';
import type { Zone } from './timezone.ts';

/** Stands for what is neither text, number nor null: a boolean, an array, an object. */
export const notText = Symbol('not text');

/** Stands for a number that its file format does not hold exactly. */
export const inexact = Symbol('inexact number');

/** Stands for an error in a spreadsheet's cell. */
export const errorCell = Symbol('error');

/** Stands for a formula whose result a spreadsheet does not hold. */
export const notComputed = Symbol('formula without result');

const symbolCodes = {
  [notText]: 'not_text',
  [inexact]: 'number_inexact',
  [errorCell]: 'cell_error',
  [notComputed]: 'formula_not_computed',
} as const;

/** One field of a record: its text (a number's by its source), JSON null, or absent. */
export type Cell = string | null | undefined | keyof typeof symbolCodes;

export interface RecordSample {
  /** `period_start`, in days since 1970-01-01. */
  readonly day: number;
  readonly metric: PlannedMetric;
  readonly labels: Labels;
  /** Exactly as it came. */
  readonly value: string;
}

/** A record is atomic: while it has problems, it has no samples and no blanks. */
export interface JudgedRecord {
  readonly problems: readonly RecordProblem[];
  readonly samples: readonly RecordSample[];
  /** Values that were blank: empty text, null, or an absent optional field. */
  readonly blank: number;
}

/** Cells in the order of the shape's fields → the samples or the problems of the record. */
export type RecordRules = (cells: readonly Cell[]) => JudgedRecord;

/**
 * Prepares the rules of DECISIONS 2 for the records of one delivery. A record has at most one
 * problem a field, in the order of the shape's fields.
 */
export function recordRules(
  plan: ShapePlan,
  zone: Zone,
  interner = new LabelInterner(plan.labelSets),
): RecordRules {
  // Used for each record again: a document has hundreds of thousands.
  const reading: Reading = { day: 0, metrics: [], values: [], blank: 0, metric: null };
  const textIds: number[] = [];
  const texts: string[] = [];

  function labelsOf(set: LabelSet, cells: readonly Cell[]): Labels {
    const { positions } = set;
    textIds.length = positions.length;
    texts.length = positions.length;
    for (let i = 0; i < positions.length; i++) {
      texts[i] = textOf(cells[positions[i]!]);
      textIds[i] = interner.texts.idOf(texts[i]!);
    }
    return interner.kept(set, textIds) ?? interner.notKept(set, texts);
  }

  return (cells) => {
    reading.metrics.length = 0;
    reading.values.length = 0;
    reading.blank = 0;
    reading.metric = null;
    let problems: RecordProblem[] | null = null;
    for (let i = 0; i < plan.fields.length; i++) {
      const field = plan.fields[i]!;
      const code = readCell(field, cells[i], reading, plan, zone);
      if (code === null) continue;
      problems ??= [];
      problems.push({ field: field.name, code });
    }
    if (problems !== null) return { problems, samples: none, blank: 0 };

    let set: LabelSet | null = null;
    let labels: Labels | null = null;
    const samples: RecordSample[] = [];
    for (let i = 0; i < reading.values.length; i++) {
      const metric = reading.metrics[i] ?? reading.metric;
      assert(metric?.labelSet, 'a value has its metric and its labels');
      if (labels === null || metric.labelSet !== set) labels = labelsOf(metric.labelSet, cells);
      set = metric.labelSet;
      samples.push({ day: reading.day, metric, labels, value: reading.values[i]! });
    }
    return { problems: none, samples, blank: reading.blank };
  };
}

const none: readonly never[] = [];

/** What the cells of one record have given so far. */
interface Reading {
  day: number;
  /** Of each value; null in long form, where another field names it. */
  readonly metrics: (PlannedMetric | null)[];
  readonly values: string[];
  blank: number;
  metric: PlannedMetric | null;
}

/** Reads one cell into the reading; the problem's code when it cannot be. */
function readCell(
  field: PlannedField,
  cell: Cell,
  reading: Reading,
  plan: ShapePlan,
  zone: Zone,
): RecordCode | null {
  if (cell === undefined && field.required) return 'field_missing';
  if (field.role === undefined) return null;
  if (typeof cell === 'symbol') return symbolCodes[cell];
  const text = cell ?? '';

  if (field.role === 'value') {
    if (text === '') {
      reading.blank++;
      return null;
    }
    reading.metrics.push(field.metric);
    reading.values.push(text);
    return decimalProblem(text);
  }
  if (field.role === 'label') return labelTooLong(text) ? 'label_too_long' : null;
  if (field.role === 'metric') {
    if (text === '') return 'metric_blank';
    reading.metric = plan.metricByKey.get(text) ?? null;
    if (reading.metric === null) return 'metric_undeclared';
    return reading.metric.labelSet === null ? 'label_missing' : null;
  }
  if (text === '') return 'period_blank';
  const day = readPeriod(text, field.grain, zone);
  if (typeof day === 'string') return day;
  reading.day = day;
  return null;
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : '';
}
