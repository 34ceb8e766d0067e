import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/catalog.ts';
import { claimFor, seedSource, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

const roundMs = 1_000;
const want = (over: object = {}) => ({
  ...{ limit: 100, bytesMax: 1_000_000, roundMs, now: 10_000 },
  ...over,
});

/** What ties the catalog to its artifact store (src/catalog/catalog.ts, `Upkeep`). */
export function upkeepContract(subject: Subject): void {
  describe('the standing', () => {
    it('names the catalog for ever, and is the same by every handle', async () => {
      const { catalogId, sequence, receivedAt } = await subject.catalog.upkeep.standing();
      expect(catalogId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect([sequence, receivedAt]).toEqual([0, null]);
      const another = await subject.another();
      expect((await another.upkeep.standing()).catalogId).toBe(catalogId);
      expect((await (await subject.reopen()).upkeep.standing()).catalogId).toBe(catalogId);
    });

    it('is the greatest sequence, and the latest time of those accepted last', async () => {
      const { sourceId } = await seedSource(subject.catalog);
      await store(subject.catalog, claimFor(sourceId, { receivedAt: 9_000 }));
      const sequence = await store(subject.catalog, claimFor(sourceId, { receivedAt: 8_000 }));
      const standing = await subject.catalog.upkeep.standing();
      expect(standing).toMatchObject({ sequence, receivedAt: 9_000 });
    });
  });

  it('a raised sequence is that of no delivery; the next ones follow it', async () => {
    const { catalog } = subject;
    const { sourceId } = await seedSource(catalog);
    const before = await store(catalog, claimFor(sourceId));
    await catalog.upkeep.raiseSequence(before + 1_000_000);
    await catalog.upkeep.raiseSequence(before + 10);
    expect((await catalog.upkeep.standing()).sequence).toBe(before);
    expect(await store(catalog, claimFor(sourceId))).toBe(before + 1_000_001);
    expect(await store(catalog, claimFor(sourceId))).toBe(before + 1_000_002);
    expect((await catalog.upkeep.standing()).sequence).toBe(before + 1_000_002);
  });

  describe('checks', () => {
    it('come in accepted order, a round at a time, new artifacts at its end', async () => {
      const { catalog } = subject;
      await drain(catalog, 0);
      const { sourceId } = await seedSource(catalog);
      const claims = Array.from({ length: 5 }, () => claimFor(sourceId));
      for (const claim of claims) await store(catalog, claim);
      const first = await catalog.upkeep.nextToCheck(want({ limit: 2, now: 0 }));
      expect(first).toEqual(
        claims.slice(0, 2).map(({ artifactId, sha256, place }) => ({
          ...{ artifactId, place },
          sha256: sha256.toString('hex'),
        })),
      );
      const others = await (await subject.another()).upkeep.nextToCheck(want({ now: 0 }));
      expect(ids(others)).toEqual(ids(claims.slice(2)));
      expect(await catalog.upkeep.nextToCheck(want({ now: 0 }))).toEqual([]);
      const late = claimFor(sourceId);
      await store(catalog, late);
      expect(ids(await catalog.upkeep.nextToCheck(want({ now: 0 })))).toEqual([late.artifactId]);
      expect(await catalog.upkeep.nextToCheck(want({ now: roundMs - 1 }))).toEqual([]);

      const again = await drain(catalog, roundMs);
      expect(again.slice(-6)).toEqual([...ids(claims), late.artifactId]);
      expect(await catalog.upkeep.nextToCheck(want({ now: 2 * roundMs - 1 }))).toEqual([]);
      expect(await drain(catalog, 2 * roundMs)).toEqual(again);
    });

    it('are taken up to so many bytes, at least one', async () => {
      const { catalog } = subject;
      await drain(catalog, 100_000);
      const { sourceId } = await seedSource(catalog);
      const claims = Array.from({ length: 4 }, () => claimFor(sourceId));
      for (const claim of claims) await store(catalog, claim);
      const now = 100_000;
      expect(await catalog.upkeep.nextToCheck(want({ bytesMax: 1, now }))).toHaveLength(1);
      expect(await catalog.upkeep.nextToCheck(want({ bytesMax: 250, now }))).toHaveLength(2);
      expect(await catalog.upkeep.nextToCheck(want({ now }))).toHaveLength(1);
    });

    it('remember what they found until a later check finds otherwise', async () => {
      const { upkeep } = subject.catalog;
      const { sourceId } = await seedSource(subject.catalog);
      const [one, two] = [claimFor(sourceId), claimFor(sourceId)];
      for (const claim of [one, two]) await store(subject.catalog, claim);
      expect(await upkeep.damage(one.artifactId)).toBeNull();
      await upkeep.noteChecks([
        { artifactId: one.artifactId, at: 1, damage: 'changed' },
        { artifactId: two.artifactId, at: 1, damage: 'missing' },
      ]);
      expect(await upkeep.damage(one.artifactId)).toBe('changed');
      expect(await upkeep.damage(two.artifactId)).toBe('missing');
      expect(await upkeep.damagedCount()).toBe(2);
      await upkeep.noteChecks([{ artifactId: one.artifactId, at: 2, damage: null }]);
      expect(await upkeep.damage(one.artifactId)).toBeNull();
      expect(await upkeep.damagedCount()).toBe(1);
    });
  });
}

const ids = (some: readonly { artifactId: string }[]) => some.map((one) => one.artifactId);

async function drain(catalog: Catalog, now: number): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const taken = ids(await catalog.upkeep.nextToCheck(want({ now })));
    if (taken.length === 0) return all;
    all.push(...taken);
  }
}
