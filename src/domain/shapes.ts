import type { Field, Metric } from './nouns.ts';

/** Why a list of fields cannot be saved as a shape; `field` is the declared name it is about. */
export interface ShapeProblem {
  readonly field: string | null;
  readonly code: string;
  readonly message: string;
}

/** Longest name of a field or a label, in UTF-16 units. */
export const fieldNameCharsMax = 200;

const roles: ReadonlySet<string> = new Set(['period', 'value', 'metric', 'label']);
const grains: ReadonlySet<string> = new Set(['day', 'week', 'month', 'quarter', 'year']);

/**
 * Judges the fields of a shape against the company's metrics (DECISIONS 1).
 *
 * @returns the first problem found, each field by itself before the fields together; null when
 *   the shape may be saved
 */
export function validateShape(
  fields: readonly Field[],
  metrics: readonly Metric[],
): ShapeProblem | null {
  const names = new Set<string>();
  for (const field of fields) {
    const found = fieldProblem(field);
    if (found) return found;
    if (names.has(field.name)) {
      return problem(field, 'field_twice', 'Two fields share this name.');
    }
    names.add(field.name);
  }
  return periodProblem(fields) ?? valueProblem(fields) ?? labelProblem(fields, metrics);
}

/** The name under which a label field's text stands in a sample. */
export function labelOf(field: Field): string {
  return field.label ?? field.name;
}

function problem(field: Field | null, code: string, message: string): ShapeProblem {
  return { field: field === null ? null : field.name, code, message };
}

function fieldProblem(field: Field): ShapeProblem | null {
  const bad = nameProblem(field.name);
  if (bad) return problem(field, 'name_invalid', `A field's name ${bad}.`);
  if (field.role !== undefined && !roles.has(field.role)) {
    return problem(field, 'role_unknown', 'A role is one of period, value, metric and label.');
  }
  if (field.personal && field.role !== undefined) {
    return problem(field, 'personal_role', 'A personal field has no role.');
  }
  if (field.grain !== undefined && field.role !== 'period') {
    return problem(field, 'grain_misplaced', 'Only a period field has a grain.');
  }
  if (field.grain !== undefined && !grains.has(field.grain)) {
    const message = 'A grain is one of day, week, month, quarter and year.';
    return problem(field, 'grain_unknown', message);
  }
  if (field.metric !== undefined && field.role !== 'value') {
    return problem(field, 'metric_misplaced', 'Only a value field names the metric it holds.');
  }
  if (field.label !== undefined && field.role !== 'label') {
    return problem(field, 'label_misplaced', 'Only a label field names a label.');
  }
  const badLabel = field.label === undefined ? null : nameProblem(field.label);
  if (badLabel) return problem(field, 'label_invalid', `A label's name ${badLabel}.`);
  return null;
}

/** U+0000 and lone surrogates: not every catalog can keep them. */
const unkeepable = /[\0\p{Surrogate}]/u;

function nameProblem(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (name.length > fieldNameCharsMax) {
    return `must not be longer than ${fieldNameCharsMax} characters`;
  }
  if (unkeepable.test(name)) return 'must be well-formed text';
  return null;
}

function periodProblem(fields: readonly Field[]): ShapeProblem | null {
  const periods = fields.filter((field) => field.role === 'period');
  if (periods.length === 0) return problem(null, 'period_missing', 'No field has the role period.');
  if (periods.length === 1) return null;
  return problem(periods[1]!, 'period_twice', 'More than one field has the role period.');
}

/** Wide: each value names its metric. Long: one field names the metric, one holds its value. */
function valueProblem(fields: readonly Field[]): ShapeProblem | null {
  const values = fields.filter((field) => field.role === 'value');
  const wide = values.filter((field) => field.metric !== undefined);
  const long = values.filter((field) => field.metric === undefined);
  const keys = fields.filter((field) => field.role === 'metric');

  if (wide.length > 0 && keys.length > 0) {
    const message = 'A field that names the metric cannot stand beside values that name theirs.';
    return problem(keys[0]!, 'wide_and_long', message);
  }
  if (wide.length > 0 && long.length > 0) {
    const message = 'Values with and without a metric of their own cannot be mixed.';
    return problem(long[0]!, 'wide_and_long', message);
  }
  if (values.length === 0) {
    return problem(keys[0] ?? null, 'value_missing', 'No field has the role value.');
  }
  if (wide.length > 0) return metricTwiceProblem(wide);
  if (keys.length === 0) {
    const message = 'A value needs its metric, or a field with the role metric that names it.';
    return problem(long[0]!, 'metric_missing', message);
  }
  if (keys.length > 1) {
    return problem(keys[1]!, 'metric_field_twice', 'More than one field has the role metric.');
  }
  if (long.length > 1) {
    const message = 'A shape with a metric field has one value field.';
    return problem(long[1]!, 'value_twice', message);
  }
  return null;
}

function metricTwiceProblem(values: readonly Field[]): ShapeProblem | null {
  const seen = new Set<string>();
  for (const field of values) {
    if (seen.has(field.metric!)) {
      return problem(field, 'metric_twice', "Two fields hold one metric's value.");
    }
    seen.add(field.metric!);
  }
  return null;
}

/** In long form the label sets are judged record by record: any declared metric may come. */
function labelProblem(fields: readonly Field[], metrics: readonly Metric[]): ShapeProblem | null {
  const labels = new Set<string>();
  for (const field of fields) {
    if (field.role !== 'label') continue;
    if (labels.has(labelOf(field))) {
      return problem(field, 'label_twice', 'Two fields give one label.');
    }
    labels.add(labelOf(field));
  }
  const declared = new Map(metrics.map((metric) => [metric.key, metric]));
  for (const field of fields) {
    if (field.role !== 'value' || field.metric === undefined) continue;
    const metric = declared.get(field.metric);
    if (!metric) return problem(field, 'metric_undeclared', 'This metric is not declared.');
    const missing = metric.labels.find((label) => !labels.has(label));
    if (missing !== undefined) {
      const message = `The metric's label ${JSON.stringify(missing)} has no label field.`;
      return problem(field, 'label_missing', message);
    }
  }
  return null;
}
