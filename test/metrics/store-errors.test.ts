import { expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { type Catalog, CatalogAway, CatalogRefusal } from '../../src/catalog/catalog.ts';
import { ApiError } from '../../src/domain/errors.ts';
import { countedCatalogErrors, countedErrors } from '../../src/metrics/store-errors.ts';
import { SamplesAway } from '../../src/samples/samples.ts';

const told: string[] = [];
const metrics = { storeFailed: (store: string) => void told.push(store) };

/** A store as they are: methods on a class, with what is its own. */
class Store {
  readonly kind = 'files';
  #error: Error | null = null;

  fail(error: Error | null): this {
    this.#error = error;
    return this;
  }

  async ping(): Promise<string> {
    if (this.#error) throw this.#error;
    return 'there';
  }

  async pingTwice(): Promise<string> {
    return this.ping();
  }
}

test.each([
  [new StoreAway('full'), 1],
  [new SamplesAway('gone'), 1],
  [new CatalogAway('locked'), 1],
  [new Error('a defect'), 1],
  [new CatalogRefusal('source_not_found', 'The company has no such source.'), 0],
  [new ApiError(503, 'internal', 'Not now.'), 0],
  [new DOMException('taken back', 'AbortError'), 0],
])('of a call that fails with %o, %i are counted', async (error, count) => {
  told.length = 0;
  const own = new Store();
  const store = countedErrors(own, 'artifacts', metrics);
  own.fail(error);
  await expect(store.ping()).rejects.toBe(error);
  await expect(store.pingTwice()).rejects.toBe(error);
  expect(told).toEqual(Array(2 * count).fill('artifacts'));
});

test('a call that does not fail counts nothing, and a store is what it was', async () => {
  told.length = 0;
  const store = countedErrors(new Store(), 'samples', metrics);
  expect(await store.pingTwice()).toBe('there');
  expect(store.kind).toBe('files');
  expect(store.ping).toBe(store.ping);
  expect(told).toEqual([]);
});

test('every part of a catalog is counted', async () => {
  told.length = 0;
  const away = () => Promise.reject(new CatalogAway('away'));
  const parts = { lookup: { key: away }, queue: { claim: away }, ping: async () => {} };
  const catalog = countedCatalogErrors(parts as unknown as Catalog, metrics);
  await expect(catalog.lookup.key(Buffer.alloc(32))).rejects.toThrow('away');
  const want = { limit: 1, bytesMax: 1, leaseMs: 1, now: 1 };
  await expect(catalog.queue.claim(want)).rejects.toThrow('away');
  await catalog.ping();
  expect(told).toEqual(['catalog', 'catalog']);
});
