import { assert } from '../std/assert.ts';
import { compareUtf8 } from './labels.ts';
import type { Field, Grain, Metric } from './nouns.ts';
import { labelOf } from './shapes.ts';

/** A shape made ready for reading many records. */
export interface ShapePlan {
  /** As declared, in order; a record's cells stand in the same order. */
  readonly fields: readonly PlannedField[];
  /** Position of a field by its name. */
  readonly positions: ReadonlyMap<string, number>;
  /** Every metric that a record of this shape may give: `PlannedMetric.index` is its place. */
  readonly metrics: readonly PlannedMetric[];
  /** The same by key, for the metric field of long records. */
  readonly metricByKey: ReadonlyMap<string, PlannedMetric>;
  readonly labelSets: readonly LabelSet[];
}

export interface PlannedField {
  readonly name: string;
  readonly required: boolean;
  readonly role: Field['role'];
  /** Of the period field. */
  readonly grain: Grain;
  /** Of a wide value field. */
  readonly metric: PlannedMetric | null;
}

export interface PlannedMetric {
  readonly key: string;
  readonly index: number;
  /** Null: the shape has no field for one of its labels, so it cannot give this metric. */
  readonly labelSet: LabelSet | null;
}

/** Label names that one or more metrics carry, sorted, and the fields that hold them. */
export interface LabelSet {
  readonly index: number;
  readonly names: readonly string[];
  /** Positions of the fields, in the order of `names`. */
  readonly positions: readonly number[];
}

/**
 * Prepares a shape for reading. The shape must have passed `validateShape` against these
 * metrics, or against fewer of them: metrics are never taken back.
 */
export function compileShape(fields: readonly Field[], metrics: readonly Metric[]): ShapePlan {
  const labelPositions = new Map<string, number>();
  const wide = new Set<string>();
  for (const [position, field] of fields.entries()) {
    if (field.role === 'label') labelPositions.set(labelOf(field), position);
    if (field.metric !== undefined) wide.add(field.metric);
  }
  const labelSets = new Map<string, LabelSet>();
  const metricByKey = new Map<string, PlannedMetric>();
  for (const metric of metrics) {
    if (wide.size > 0 && !wide.has(metric.key)) continue;
    const labelSet = labelSetOf(metric, labelPositions, labelSets);
    const index = metricByKey.size;
    metricByKey.set(metric.key, { key: metric.key, index, labelSet });
  }
  return {
    fields: fields.map((field) => plannedField(field, metricByKey)),
    positions: new Map(fields.map((field, position) => [field.name, position])),
    metrics: [...metricByKey.values()],
    metricByKey,
    labelSets: [...labelSets.values()],
  };
}

function labelSetOf(
  metric: Metric,
  labelPositions: ReadonlyMap<string, number>,
  known: Map<string, LabelSet>,
): LabelSet | null {
  const names = metric.labels.toSorted(compareUtf8);
  const positions = names.map((name) => labelPositions.get(name) ?? -1);
  if (positions.includes(-1)) return null;
  const id = JSON.stringify(names);
  const labelSet = known.get(id) ?? { index: known.size, names, positions };
  known.set(id, labelSet);
  return labelSet;
}

function plannedField(field: Field, metricByKey: ReadonlyMap<string, PlannedMetric>): PlannedField {
  const metric = field.metric === undefined ? null : metricByKey.get(field.metric);
  assert(metric === null || metric?.labelSet != null, 'a wide value has its metric and labels');
  const { name, role, required = true, grain = 'day' } = field;
  return { name, role, required, grain, metric };
}
