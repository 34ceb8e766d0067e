import { type Catalog, CatalogRefusal } from '../catalog/catalog.ts';
import { ToldError } from '../domain/errors.ts';
import type { Metrics, StoreName } from './metrics.ts';

type Told = Pick<Metrics, 'storeFailed'>;

/**
 * Counts the calls of a store that fail; whatever it gives and throws is passed on. What a caller
 * got wrong is no failure of the store, nor is a call that was taken back. Streams and lists that
 * break off are counted where they are begun only.
 */
export function countedErrors<S extends object>(store: S, name: StoreName, metrics: Told): S {
  const failed = (error: unknown) => {
    if (isOfStore(error)) metrics.storeFailed(name);
    throw error;
  };
  const wrapped = new Map<unknown, unknown>();
  // A proxy, not a copy: a store's methods live on its class.
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      // Made once for each method: some are called for every request.
      let method = wrapped.get(value);
      if (method === undefined) {
        method = (...args: unknown[]) => {
          const given: unknown = value.apply(target, args);
          return given instanceof Promise ? given.catch(failed) : given;
        };
        wrapped.set(value, method);
      }
      return method;
    },
  });
}

/** Counts the failures of every part of the catalog. */
export function countedCatalogErrors(catalog: Catalog, metrics: Told): Catalog {
  const parts = Object.entries(catalog).map(([name, part]: [string, unknown]) => [
    name,
    typeof part === 'object' && part !== null ? countedErrors(part, 'catalog', metrics) : part,
  ]);
  return Object.fromEntries(parts) as Catalog;
}

function isOfStore(error: unknown): boolean {
  if (error instanceof CatalogRefusal || error instanceof ToldError) return false;
  return !(error instanceof Error && error.name === 'AbortError');
}
