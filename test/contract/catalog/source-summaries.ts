import { describe, expect, it } from 'vitest';
import type { Catalog, Claim } from '../../../src/catalog/catalog.ts';
import type { Field } from '../../../src/domain/nouns.ts';
import {
  claimFor,
  newSource,
  oneSample,
  seedCompany,
  seedSource,
  store,
} from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

const hourMs = 3_600_000;

export function sourceSummariesContract(on: Subject): void {
  describe('sources', () => {
    it('come by name, with what came last and what waits', async () => {
      const { companyId } = await seedCompany(on.catalog);
      const { directory } = on.catalog;
      const shop = await directory.createSource(newSource(companyId, { name: 'shop' }), 2_000);
      await directory.createSource(newSource(companyId, { name: 'Billing' }), 3_000);
      await seedSource(on.catalog);
      await store(on.catalog, claimFor(shop.sourceId, { receivedAt: 5_000 }));
      await store(on.catalog, claimFor(shop.sourceId, { receivedAt: 6_000, sandbox: true }));
      const [billing, second, ...others] = await on.catalog.sourceSummaries.sources(
        companyId,
        7_000,
      );
      expect(others).toEqual([]);
      expect(billing).toMatchObject({ name: 'Billing', lastDelivery: null, backlog: 0 });
      expect(second).toMatchObject({
        ...{ name: 'shop', createdAt: 2_000, shapeVersion: 1, delivery: 'push', backlog: 2 },
        lastDelivery: { receivedAt: 6_000, sandbox: true },
      });
    });

    it('count what was rejected of deliveries of the last 24 hours, sandbox apart', async () => {
      const { companyId, sourceId } = await seedSource(on.catalog);
      const now = 30 * hourMs;
      await rejected(on.catalog, { sourceId, receivedAt: now - 24 * hourMs - 1 }, 1);
      await rejected(on.catalog, { sourceId, receivedAt: now - 24 * hourMs }, 2);
      await rejected(on.catalog, { sourceId, receivedAt: now - hourMs }, 4);
      await rejected(on.catalog, { sourceId, receivedAt: now - hourMs, sandbox: true }, 8);
      const [source] = await on.catalog.sourceSummaries.sources(companyId, now);
      expect(source).toMatchObject({
        ...{ backlog: 0, rejected: { records: 6, deliveries: 2 } },
        rejectedSandbox: { records: 8, deliveries: 1 },
      });
    });
  });

  describe('shapes', () => {
    it('come newest first, by page', async () => {
      const { sourceId } = await seedSource(on.catalog);
      for (const savedBy of ['ada', 'bob']) {
        await on.catalog.directory.saveSource(sourceId, { savedBy }, 2_000);
      }
      const newest = await on.catalog.sourceSummaries.shapes(sourceId, { limit: 2 });
      expect(newest.map((shape) => [shape.version, shape.savedBy])).toEqual([
        [3, 'bob'],
        [2, 'ada'],
      ]);
      const older = await on.catalog.sourceSummaries.shapes(sourceId, { limit: 2, before: 2 });
      expect(older.map((shape) => shape.version)).toEqual([1]);
    });
  });

  describe('exposed', () => {
    it('says how many deliveries a save withdraws, as the save does', async () => {
      const fields: Field[] = [
        { name: 'day', role: 'period' },
        { name: 'seen', role: 'value', metric: 'visits' },
        { name: 'email', role: 'label' },
      ];
      const { sourceId } = await seedSource(on.catalog, { fields });
      for (let n = 0; n < 3; n++) await store(on.catalog, claimFor(sourceId));
      const { sourceSummaries, directory } = on.catalog;
      expect(await sourceSummaries.exposed(sourceId, ['seat'])).toBe(0);
      expect(await sourceSummaries.exposed(sourceId, ['seat', 'email'])).toBe(3);
      const marked: Field[] = [...fields.slice(0, 2), { name: 'email', personal: true }];
      const saved = await directory.saveSource(sourceId, { fields: marked, savedBy: 'ada' }, 2_000);
      expect(saved.withdrawn?.deliveries).toBe(3);
      expect(await sourceSummaries.exposed(sourceId, ['email'])).toBe(0);
    });
  });

  describe('a save that is based on a version', () => {
    it('is refused once another was saved, and changes nothing', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      await directory.saveSource(sourceId, { basedOn: 1, savedBy: 'ada' }, 2_000);
      const late = directory.saveSource(sourceId, { basedOn: 1, name: 'X', savedBy: 'bob' }, 3_000);
      await expect(late).rejects.toMatchObject({ code: 'version_outdated', field: 'based_on' });
      expect(await directory.source(sourceId)).toMatchObject({ name: 'Shop', shapeVersion: 2 });
    });
  });
}

/** Stores a delivery, and completes it with so many rejected records and no other. */
async function rejected(
  catalog: Catalog,
  over: Pick<Claim, 'sourceId' | 'receivedAt'> & Partial<Claim>,
  records: number,
): Promise<void> {
  const claim = claimFor(over.sourceId, over);
  await store(catalog, claim);
  const want = { limit: 100, bytesMax: 100_000, leaseMs: 1_000, now: over.receivedAt };
  // Those of other cases wait too.
  const jobs = await catalog.queue.claim(want);
  const job = jobs.find((one) => one.artifactId === claim.artifactId);
  const counts = { ...oneSample, records, parsed: 0, samples: 0, rejected: records };
  const { artifactId, token, generation } = job!;
  const outcome = { artifactId, token, generation, counts, turn: null, refusal: null } as const;
  const more = { status: 'rejected', undeclaredFields: [], parserVersion: 1 } as const;
  const { took } = await catalog.queue.complete([{ ...outcome, ...more }], over.receivedAt);
  expect(took).toEqual([artifactId]);
}
