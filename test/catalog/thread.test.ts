import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { CatalogAway, CatalogRefusal } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { sqliteCatalog } from '../../src/catalog/sqlite/catalog.ts';
import { openThread, startThread } from '../../src/catalog/sqlite/thread-client.ts';
import { claimFor, seedSource, store, tempCatalog } from './support.ts';

it('the event loop goes on while the catalog waits for another process', async () => {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: true });
  const { sourceId } = await seedSource(catalog);
  const blocker = new Sqlite(place.path);
  blocker.exec('begin immediate');
  const waiting = store(catalog, claimFor(sourceId));
  let turns = 0;
  const from = performance.now();
  while (performance.now() - from < 300) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    turns++;
  }
  expect(turns).toBeGreaterThan(10);
  // Reads go on too: they wait for no writer.
  expect(await catalog.directory.source(sourceId)).not.toBeNull();
  blocker.exec('commit');
  blocker.close();
  expect(await waiting).toBeGreaterThan(0);
  await catalog.close();
  await place.remove();
});

it('errors cross the thread as themselves', async () => {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: true });
  const { companyId } = await seedSource(catalog);
  const metric = { key: 'visits', name: 'V', unit: 'x', labels: ['a'] };
  const error = await catalog.directory.declareMetric(companyId, metric, 1).catch((e) => e);
  expect(error).toBeInstanceOf(CatalogRefusal);
  expect(error).toMatchObject({ code: 'metric_labels_differ', field: 'labels' });
  await catalog.close();
  await place.remove();
});

it('a thread that dies fails its calls with CatalogAway, the next has a new one', async () => {
  const place = await tempCatalog();
  const threads: Worker[] = [];
  const writer = await openThread(place.path, (settings) => {
    threads.push(startThread(settings));
    return threads.at(-1)!;
  });
  const catalog = sqliteCatalog(place.path, writer);
  const { sourceId } = await seedSource(catalog);
  const blocker = new Sqlite(place.path);
  blocker.exec('begin immediate');
  const lost = store(catalog, claimFor(sourceId));
  const failed = expect(lost).rejects.toBeInstanceOf(CatalogAway);
  await new Promise(setImmediate); // It has left.
  const gathered = store(catalog, claimFor(sourceId)).catch((error) => error);
  // It dies inside its transaction, and the lock must not stay behind.
  const dying = threads[0]!.terminate();
  blocker.exec('commit');
  blocker.close();
  await dying;
  await failed;
  // The group behind the lost one left for the new thread.
  expect(await gathered).toBeGreaterThan(0);
  expect(await store(catalog, claimFor(sourceId))).toBeGreaterThan(0);
  expect(threads).toHaveLength(2);
  await catalog.close();
  await place.remove();
});

it('a catalog that was closed answers CatalogAway, and what waited before was done', async () => {
  for (const thread of [true, false]) {
    const place = await tempCatalog();
    const catalog = await openCatalog(place.url, { thread });
    const { sourceId } = await seedSource(catalog);
    const claims = Array.from({ length: 30 }, () => claimFor(sourceId));
    const waiting = claims.map((claim) => store(catalog, claim));
    await catalog.close();
    expect(await Promise.all(waiting)).toHaveLength(30);
    await expect(catalog.lookup.known(claims[0]!)).rejects.toBeInstanceOf(CatalogAway);
    await expect(catalog.ledger.record(claims[0]!)).rejects.toBeInstanceOf(CatalogAway);
    await expect(catalog.ping()).rejects.toBeInstanceOf(CatalogAway);
    await place.remove();
  }
});

it('200 receipts at once share few transactions', async () => {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: true });
  const { sourceId } = await seedSource(catalog);
  for (const [many, atOnce] of [
    [50, 1],
    [1_000, 200],
  ] as const) {
    const from = performance.now();
    let left = many;
    const record = async () => {
      while (left-- > 0) await store(catalog, claimFor(sourceId));
    };
    await Promise.all(Array.from({ length: atOnce }, record));
    const rate = Math.round((1_000 * many) / (performance.now() - from));
    console.log(`ledger: ${atOnce} at once, ${rate} receipts a second`);
  }
  expect(await catalog.queue.backlog()).toMatchObject({ deliveries: 1_050 });
  await catalog.close();
  await place.remove();
});
