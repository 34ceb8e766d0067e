import { CatalogAway, CatalogFull, CatalogRefusal } from './catalog.ts';

/** An error as data, so that it can cross to another thread and be itself again there. */
export type Failure =
  | { readonly kind: 'away'; readonly message: string }
  | { readonly kind: 'full'; readonly message: string }
  | {
      readonly kind: 'refusal';
      readonly code: string;
      readonly message: string;
      readonly field: string | undefined;
    }
  | { readonly kind: 'defect'; readonly message: string; readonly stack: string | undefined };

export function failureOf(error: unknown): Failure {
  if (error instanceof CatalogFull) return { kind: 'full', message: error.message };
  if (error instanceof CatalogAway) return { kind: 'away', message: error.message };
  if (error instanceof CatalogRefusal) {
    const { code, message, field } = error;
    return { kind: 'refusal', code, message, field };
  }
  if (error instanceof Error) {
    return { kind: 'defect', message: error.message, stack: error.stack };
  }
  return { kind: 'defect', message: String(error), stack: undefined };
}

export function errorOf(failure: Failure): Error {
  if (failure.kind === 'full') return new CatalogFull(failure.message);
  if (failure.kind === 'away') return new CatalogAway(failure.message);
  if (failure.kind === 'refusal') {
    return new CatalogRefusal(failure.code, failure.message, failure.field);
  }
  const error = new Error(failure.message);
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}
