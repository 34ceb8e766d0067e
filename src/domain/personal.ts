import type { Field, ShapeVersion } from './nouns.ts';

/** The names of the fields that a shape marks personal. */
export function personalNames(fields: readonly Field[]): string[] {
  return fields.filter((field) => field.personal).map((field) => field.name);
}

/**
 * The first field to which a shape gives a role although it is personal now (DECISIONS 1: what
 * the current version marks personal is personal under every version); null when there is none.
 */
export function exposedField(fields: readonly Field[], personalNow: readonly string[]) {
  const exposed = fields.find(({ role, name }) => role !== undefined && personalNow.includes(name));
  return exposed?.name ?? null;
}

/**
 * The version under which a delivery is parsed again unless somebody names one: its own. Where
 * that gives a role to a field that is personal now, it could only be rejected, and the current
 * version takes its place.
 */
export function versionAgain(own: ShapeVersion, current: ShapeVersion): number {
  const exposed = exposedField(own.fields, personalNames(current.fields));
  return exposed === null ? own.version : current.version;
}
