import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { openCatalog } from '../../src/catalog/open.ts';
import { claimFor, seedSource, store, tempCatalog } from './support.ts';

it('a claim that fails between its two writes leaves neither', async () => {
  const place = await tempCatalog();
  const catalog = await openCatalog(place.url, { thread: false });
  const { sourceId } = await seedSource(catalog);
  const db = new Sqlite(place.path);
  // The delivery's row is written before its name: this stops the second write only.
  db.exec(`create trigger cursed before insert on delivery_keys when new.key = 'cursed'
    begin select raise(abort, 'no such name'); end`);
  const cursed = claimFor(sourceId, { idempotencyKey: 'cursed' });
  const alone = store(catalog, claimFor(sourceId));
  const group = [
    store(catalog, claimFor(sourceId)),
    store(catalog, cursed),
    store(catalog, claimFor(sourceId)),
  ];
  await alone;
  const ended = await Promise.allSettled(group);
  expect(ended.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(ended[1]).toMatchObject({ reason: { message: 'no such name' } });
  expect(await catalog.deliveries.byArtifact(cursed.artifactId)).toBeNull();
  expect(await catalog.deliveries.list(sourceId, { limit: 10 })).toHaveLength(3);
  db.exec('drop trigger cursed');
  db.close();
  expect(await store(catalog, cursed)).toBeGreaterThan(0);
  await catalog.close();
  await place.remove();
});
