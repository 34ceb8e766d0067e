import { expect, it } from 'vitest';
import { type Catalog, CatalogAway } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { type Acknowledged, RecordingChild } from './child.ts';
import { claimFor, seedSource, store, tempCatalog } from './support.ts';

async function holdsAll(catalog: Catalog, told: readonly Acknowledged[]): Promise<void> {
  for (const one of told) {
    const delivery = await catalog.deliveries.byArtifact(one.artifactId);
    expect(delivery).toMatchObject({ sequence: one.sequence, status: 'queued' });
    expect(await catalog.deliveries.idempotencyKeys(one.artifactId)).toEqual([one.key]);
  }
}

for (const where of ['thread', 'process'] as const) {
  it(`a process killed while recording (${where}) loses no receipt`, async () => {
    const place = await tempCatalog();
    const seeding = await openCatalog(place.url, { thread: false });
    const { sourceId } = await seedSource(seeding);
    await seeding.close();
    const told: Acknowledged[] = [];
    for (let round = 0; round < 4; round++) {
      const child = new RecordingChild({ url: place.url, sourceId, where, atOnce: 40 });
      await child.told(1);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
      await child.kill();
      told.push(...child.acknowledged());
      const catalog = await openCatalog(place.url, { thread: false });
      await holdsAll(catalog, told);
      // Whatever was under way stands whole or not at all: each delivery has its first name.
      for (const one of await catalog.deliveries.list(sourceId, { limit: 100 })) {
        expect(await catalog.deliveries.idempotencyKeys(one.artifactId)).toHaveLength(1);
      }
      const next = await store(catalog, claimFor(sourceId));
      expect(next).toBeGreaterThan(Math.max(...told.map((one) => one.sequence)));
      await catalog.close();
    }
    expect(new Set(told.map((one) => one.sequence)).size).toBe(told.length);
    await place.remove();
  });
}

it('a full disk fails receipts with CatalogAway, and what was acknowledged stays', async () => {
  const place = await tempCatalog();
  const seeding = await openCatalog(place.url, { thread: false });
  const { sourceId } = await seedSource(seeding);
  await seeding.close();
  const args = { url: place.url, sourceId, where: 'thread', atOnce: 40 } as const;
  const child = new RecordingChild(args, 2_000);
  await child.ended;
  expect(child.stderr).toContain('CatalogAway: SQLITE_');
  const told = child.acknowledged();
  expect(told.length).toBeGreaterThan(40);
  const catalog = await openCatalog(place.url, { thread: false });
  await holdsAll(catalog, told);
  await store(catalog, claimFor(sourceId));
  await catalog.close();
  await place.remove();
});

it('two processes that record on one file never meet SQLITE_BUSY and see each other', async () => {
  const place = await tempCatalog();
  const mine = await openCatalog(place.url, { thread: true });
  const { sourceId } = await seedSource(mine);
  const args = { url: place.url, sourceId, where: 'thread', atOnce: 40 } as const;
  const child = new RecordingChild(args);
  await child.told(1);
  const sequences: number[] = [];
  const until = Date.now() + 1_500;
  const record = async () => {
    while (Date.now() < until) sequences.push(await store(mine, claimFor(sourceId)));
  };
  await Promise.all(Array.from({ length: 40 }, record));
  for (const one of child.acknowledged()) {
    // Told by the other process: readable here at once.
    expect(await mine.deliveries.byArtifact(one.artifactId)).not.toBeNull();
  }
  expect(child.process.exitCode).toBeNull();
  await child.kill();
  expect(child.stderr).toBe('');
  const told = child.acknowledged().map((one) => one.sequence);
  expect(new Set([...sequences, ...told]).size).toBe(sequences.length + told.length);
  expect(Math.min(sequences.length, told.length)).toBeGreaterThan(40);
  await mine.close();
  await place.remove();
});

it('two processes that race with the same keys store each once', async () => {
  const place = await tempCatalog();
  const one = await openCatalog(place.url, { thread: true });
  const other = await openCatalog(place.url, { thread: true });
  const { sourceId } = await seedSource(one);
  const claims = Array.from({ length: 300 }, () => claimFor(sourceId));
  const twice = await Promise.all(
    claims.flatMap((claim) => [
      one.ledger.record(claim),
      other.ledger.record({ ...claimFor(sourceId), ...namesOf(claim) }),
    ]),
  );
  expect(twice.filter((verdict) => verdict.outcome === 'stored')).toHaveLength(300);
  await one.close();
  await other.close();
  await place.remove();
});

function namesOf({ idempotencyKey, sha256 }: ReturnType<typeof claimFor>) {
  return { idempotencyKey, sha256 };
}

it('a directory that is not there is CatalogAway', async () => {
  const opened = openCatalog('sqlite:///nowhere/at/all/catalog.db', { thread: true });
  await expect(opened).rejects.toBeInstanceOf(CatalogAway);
});
