import type { Field } from './nouns.ts';

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
