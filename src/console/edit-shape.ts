import type { Field, Grain, Metric } from '../domain/nouns.ts';
import { type ShapeProblem, validateShape } from '../domain/shapes.ts';

/** A field while it is edited: everything has a value, whatever the role makes of it. */
export interface EditedField {
  /** Stays with the field when it is moved or renamed. */
  readonly id: number;
  readonly name: string;
  readonly role: '' | NonNullable<Field['role']>;
  readonly grain: Grain;
  /** Empty: a metric field names it. */
  readonly metric: string;
  /** Empty: the field's own name. */
  readonly label: string;
  readonly personal: boolean;
  readonly required: boolean;
}

let lastId = 0;

export function emptyField(): EditedField {
  lastId += 1;
  const text = { name: '', role: '', grain: 'day', metric: '', label: '' } as const;
  return { id: lastId, ...text, personal: false, required: true };
}

export function editedFields(fields: readonly Field[]): EditedField[] {
  return fields.map(({ name, role, grain, metric, label, personal, required }) => ({
    ...emptyField(),
    ...{ name, role: role ?? '', grain: grain ?? 'day', metric: metric ?? '', label: label ?? '' },
    ...{ personal: personal ?? false, required: required ?? true },
  }));
}

/** What is declared: of a field's settings those that its role has, and no default. */
export function declaredFields(edited: readonly EditedField[]): Field[] {
  return edited.map(({ name, role, grain, metric, label, personal, required }) => ({
    name,
    ...(role === '' ? {} : { role }),
    ...(role === 'period' && grain !== 'day' ? { grain } : {}),
    ...(role === 'value' && metric !== '' ? { metric } : {}),
    ...(role === 'label' && label !== '' && label !== name ? { label } : {}),
    ...(personal ? { personal } : {}),
    ...(required ? {} : { required }),
  }));
}

/** The first problem, and the field it is named at; null where it is about all of them. */
export function problemOf(
  edited: readonly EditedField[],
  metrics: readonly Metric[],
): (ShapeProblem & { readonly id: number | null }) | null {
  const problem = validateShape(declaredFields(edited), metrics);
  if (!problem) return null;
  const named = edited.filter(({ name }) => name === problem.field);
  // Of two with one name the second is one too many.
  const at = problem.code === 'field_twice' ? named.at(-1) : named[0];
  return { ...problem, id: at?.id ?? null };
}

/** One step up or down; at the end nothing moves. */
export function moved<T>(list: readonly T[], from: number, by: -1 | 1): T[] {
  const to = from + by;
  if (to < 0 || to >= list.length) return [...list];
  return list.with(from, list[to]!).with(to, list[from]!);
}

export interface FieldChange {
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed' | 'moved' | 'same';
  readonly before: Field | null;
  readonly after: Field | null;
}

/** Two versions side by side, in the order of the later one, what is gone at its old place. */
export function compareFields(before: readonly Field[], after: readonly Field[]): FieldChange[] {
  const was = new Map(before.map((field) => [field.name, field]));
  const kept = new Set(after.map(({ name }) => name));
  const common = before.filter(({ name }) => kept.has(name)).map(({ name }) => name);
  let place = 0;
  const changes = after.map((field): FieldChange => {
    const { name } = field;
    const earlier = was.get(name) ?? null;
    if (earlier === null) return { name, kind: 'added', before: null, after: field };
    const sameValue = describe(earlier) === describe(field);
    const samePlace = common[place] === name;
    place += 1;
    const kind = sameValue ? (samePlace ? 'same' : 'moved') : 'changed';
    return { name, kind, before: earlier, after: field };
  });
  for (const [i, field] of before.entries()) {
    if (kept.has(field.name)) continue;
    const gone = { name: field.name, kind: 'removed', before: field, after: null } as const;
    changes.splice(Math.min(i, changes.length), 0, gone);
  }
  return changes;
}

/** A field's settings in words. */
export function describe(field: Field): string {
  const { role, grain = 'day', metric, label, personal, required = true } = field;
  const what = {
    period: `period, one ${grain}`,
    value: metric === undefined ? 'value of the named metric' : `value of ${metric}`,
    metric: 'names the metric',
    label: label === undefined ? 'label' : `label ${label}`,
    none: 'kept only',
  }[role ?? 'none'];
  return [what, personal ? 'personal' : '', required ? '' : 'optional'].filter(Boolean).join(', ');
}
