import { expect } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import type { Delivery } from '../../src/domain/nouns.ts';
import { openSamples } from '../../src/samples/clickhouse.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { newSource, seedCompany, tempCatalog } from '../catalog/support.ts';
import { encode, everyDay, freshEngine, samplesOnly } from '../samples/support.ts';
import { contentOf, fieldsOf } from './model.ts';

/** A catalog and a sample store, and empty ones that the samples are made anew in. */
export interface Stores {
  readonly catalog: Catalog;
  readonly store: SampleStore;
  /** Another handle on the catalog, as a second process has it. */
  another(): Promise<Catalog>;
  empty(): Promise<SampleStore>;
  close(): Promise<void>;
}

export async function openStores(): Promise<Stores> {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: false });
  const { engine, remove } = await freshEngine();
  const store = openSamples(engine.address);
  await store.prepare();
  let made = 0;
  const others: Catalog[] = [];
  return {
    ...{ catalog, store },
    async another() {
      const one = await openCatalog(place.url, { thread: false });
      others.push(one);
      return one;
    },
    async empty() {
      made += 1;
      const empty = openSamples({ ...engine.address, database: `rebuilt_${made}` });
      await empty.prepare();
      return empty;
    },
    async close() {
      for (const one of [catalog, ...others, store]) await one.close();
      await remove();
      await place.remove();
    },
  };
}

/** Declares sources whose shape is version 1 of the model. @returns their ids */
export async function seedSources({ catalog }: Stores, many: number): Promise<string[]> {
  const { companyId } = await seedCompany(catalog);
  const ids: string[] = [];
  for (let n = 0; n < many; n++) {
    const made = newSource(companyId, { fields: fieldsOf(1, null) });
    ids.push((await catalog.directory.createSource(made, 1)).sourceId);
  }
  return ids;
}

/**
 * Holds the window of the live store and that of a store which got nothing but the rows of the
 * generations that stand against each other, byte for byte.
 *
 * @returns how many deliveries stood: the caller sees to it that there were enough
 */
export async function expectRebuilt(stores: Stores, sourceId: string): Promise<number> {
  const list = await stores.catalog.deliveries.list(sourceId, { limit: 10_000 });
  const standing = list.filter((one) => one.status === 'parsed');
  const rebuilt = await stores.empty();
  await rebuilt.insert(samplesOnly(...standing.map(rowsOf)));
  const query = { sourceId, ...everyDay, limit: 5_000 };
  const live = (await stores.store.window(query)).json.toString();
  const fresh = (await rebuilt.window(query)).json.toString();
  await rebuilt.close();
  expect(JSON.parse(live)).toEqual(JSON.parse(fresh));
  expect(live).toBe(fresh);
  return standing.length;
}

function rowsOf(delivery: Delivery): Buffer {
  const samples = contentOf(delivery.artifactId, delivery.shapeVersion);
  expect(delivery.counts).toMatchObject({ samples: samples.length });
  return encode({ ...delivery, samples });
}
