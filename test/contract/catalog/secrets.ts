import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { NewSecret } from '../../../src/catalog/catalog.ts';
import { newSecret, newSource, seedCompany, seedSource } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

export function secretsContract(on: Subject): void {
  /** A webhook source and its first secret. */
  async function seedWebhook() {
    const secret = newSecret();
    const seeded = await seedSource(on.catalog, { delivery: 'webhook', secret });
    return { ...seeded, secret };
  }

  /** The secrets that work at a time, current one first. */
  async function working(sourceId: string, now: number): Promise<string[]> {
    const signed = await on.catalog.lookup.signedSource(sourceId, now);
    return signed!.secrets.map((one) => one.secretId);
  }

  const ids = (...secrets: NewSecret[]) => secrets.map((one) => one.secretId);

  it('some current one is found: the oldest, whatever its source', async () => {
    const { directory } = on.catalog;
    expect(await directory.someCurrentSecret()).toBeNull();
    const first = await seedWebhook();
    await seedWebhook();
    const found = await directory.someCurrentSecret();
    expect(found).toMatchObject({ secretId: first.secret.secretId, sealed: first.secret.sealed });
    await directory.rotateSecret(first.sourceId, newSecret(), 100, 50);
    expect((await directory.someCurrentSecret())!.secretId).not.toBe(first.secret.secretId);
  });

  describe('come with the way', () => {
    it('of a new webhook source, which is refused without one', async () => {
      const { companyId } = await seedCompany(on.catalog);
      const { directory } = on.catalog;
      const secret = newSecret();
      const made = newSource(companyId, { delivery: 'webhook', secret });
      expect(await directory.createSource(made, 7)).toMatchObject({ secretTaken: true });
      expect(await directory.secrets(made.sourceId)).toEqual([
        { ...secret, createdAt: 7, endsAt: null, lastUsedAt: null },
      ]);
      const without = newSource(companyId, { delivery: 'webhook' });
      const refused = directory.createSource(without, 7);
      await expect(refused).rejects.toMatchObject({ code: 'secret_needed' });
      expect(await directory.source(without.sourceId)).toBeNull();
    });

    it('not of another source: it takes none', async () => {
      const { sourceId } = await seedSource(on.catalog, { secret: newSecret() });
      expect(await on.catalog.directory.secrets(sourceId)).toEqual([]);
      const save = { savedBy: 'a', secret: newSecret() };
      const saved = await on.catalog.directory.saveSource(sourceId, save, 9);
      expect(saved.secretTaken).toBe(false);
      expect(await on.catalog.directory.secrets(sourceId)).toEqual([]);
    });

    it('of a source that becomes a webhook source, which is refused without one', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      const change = { savedBy: 'a', delivery: 'webhook' } as const;
      const refused = directory.saveSource(sourceId, change, 9);
      await expect(refused).rejects.toMatchObject({ code: 'secret_needed' });
      expect(await directory.source(sourceId)).toMatchObject({ delivery: 'push', shapeVersion: 1 });
      const secret = newSecret();
      const saved = await directory.saveSource(sourceId, { ...change, secret }, 9);
      expect(saved).toMatchObject({ delivery: 'webhook', shapeVersion: 2, secretTaken: true });
      expect(await working(sourceId, 9)).toEqual(ids(secret));
    });

    it('and stay as they are in a save that keeps it', async () => {
      const { sourceId, secret } = await seedWebhook();
      const again = { savedBy: 'a', delivery: 'webhook', secret: newSecret() } as const;
      for (const save of [again, { savedBy: 'a', name: 'Other' }]) {
        const saved = await on.catalog.directory.saveSource(sourceId, save, 2_000);
        expect(saved.secretTaken).toBe(false);
      }
      expect(await working(sourceId, 2_000)).toEqual(ids(secret));
    });

    it('and all end at once when the source leaves it; coming back needs a new one', async () => {
      const { sourceId, secret: first } = await seedWebhook();
      const { directory } = on.catalog;
      const [second, third] = [newSecret(), newSecret()];
      await directory.rotateSecret(sourceId, second, 90_000, 2_000);
      await directory.saveSource(sourceId, { savedBy: 'a', delivery: 'push' }, 3_000);
      expect(await working(sourceId, 3_000)).toEqual([]);
      const signed = await on.catalog.lookup.signedSource(sourceId, 3_000);
      expect(signed?.source.delivery).toBe('push');
      const back = { savedBy: 'a', delivery: 'webhook' } as const;
      const refused = directory.saveSource(sourceId, back, 4_000);
      await expect(refused).rejects.toMatchObject({ code: 'secret_needed' });
      await directory.saveSource(sourceId, { ...back, secret: third }, 4_000);
      expect(await working(sourceId, 4_000)).toEqual(ids(third));
      const ends = (await directory.secrets(sourceId)).map((one) => [one.secretId, one.endsAt]);
      expect(ends).toEqual([
        [third.secretId, null],
        [second.secretId, 3_000],
        [first.secretId, 3_000],
      ]);
    });
  });

  describe('rotation (specification, "Webhook signing secret")', () => {
    it('makes the new one current at once; the old one works until its end', async () => {
      const { sourceId, secret: old } = await seedWebhook();
      const secret = newSecret();
      await on.catalog.directory.rotateSecret(sourceId, secret, 90_000, 2_000);
      expect(await working(sourceId, 2_000)).toEqual(ids(secret, old));
      expect(await working(sourceId, 89_999)).toEqual(ids(secret, old));
      expect(await working(sourceId, 90_000)).toEqual(ids(secret));
    });

    it('within the overlap ends the older one at once', async () => {
      const { sourceId, secret: first } = await seedWebhook();
      const [second, third] = [newSecret(), newSecret()];
      await on.catalog.directory.rotateSecret(sourceId, second, 90_000, 2_000);
      await on.catalog.directory.rotateSecret(sourceId, third, 95_000, 7_000);
      expect(await working(sourceId, 7_000)).toEqual(ids(third, second));
      expect(await working(sourceId, 95_000)).toEqual(ids(third));
      const list = await on.catalog.directory.secrets(sourceId);
      expect(list.map((one) => [one.secretId, one.endsAt])).toEqual([
        [third.secretId, null],
        [second.secretId, 95_000],
        [first.secretId, 7_000],
      ]);
    });

    it('after the overlap leaves the end of the oldest as it was', async () => {
      const { sourceId } = await seedWebhook();
      await on.catalog.directory.rotateSecret(sourceId, newSecret(), 90_000, 2_000);
      await on.catalog.directory.rotateSecret(sourceId, newSecret(), 180_000, 100_000);
      const list = await on.catalog.directory.secrets(sourceId);
      expect(list.map((one) => one.endsAt)).toEqual([null, 180_000, 90_000]);
    });

    it('that races over two handles leaves one current secret and one before it', async () => {
      const { sourceId } = await seedWebhook();
      const other = await on.another();
      const rotations = Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? other : on.catalog).directory.rotateSecret(sourceId, newSecret(), 90_000, 2_000),
      );
      await Promise.all(rotations);
      expect(await working(sourceId, 2_001)).toHaveLength(2);
      const list = await on.catalog.directory.secrets(sourceId);
      expect(list).toHaveLength(21);
      expect(list.filter((one) => one.endsAt === null)).toEqual([list[0]]);
    });

    it('is refused where there is no webhook source', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      const push = directory.rotateSecret(sourceId, newSecret(), 9_000, 1);
      await expect(push).rejects.toMatchObject({ code: 'not_a_webhook_source' });
      const lost = directory.rotateSecret(randomUUID(), newSecret(), 9_000, 1);
      await expect(lost).rejects.toMatchObject({ code: 'source_not_found' });
      expect(await directory.secrets(sourceId)).toEqual([]);
    });
  });

  describe('of a signed source', () => {
    it('come sealed as they were given, with the source as it is now and its company', async () => {
      const { sourceId, company, secret } = await seedWebhook();
      await on.catalog.directory.saveSource(sourceId, { savedBy: 'a', name: 'Hook' }, 2_000);
      expect(await on.catalog.lookup.signedSource(sourceId, 2_000)).toEqual({
        source: await on.catalog.directory.source(sourceId),
        company,
        secrets: [{ ...secret, createdAt: 1_002, endsAt: null, lastUsedAt: null }],
      });
    });

    it('are there for sources of any way, none for a stranger', async () => {
      const { sourceId, company } = await seedSource(on.catalog);
      const source = await on.catalog.directory.source(sourceId);
      expect(await on.catalog.lookup.signedSource(sourceId, 1)).toEqual({
        ...{ source, company, secrets: [] },
      });
      for (const text of [randomUUID(), 'x', '', `${sourceId} `, "' or 1=1 --"]) {
        expect(await on.catalog.lookup.signedSource(text, 1)).toBeNull();
      }
    });

    it('are seen by the next call when another handle rotates them', async () => {
      const { sourceId, secret: old } = await seedWebhook();
      const other = await on.another();
      expect(await working(sourceId, 2_000)).toEqual(ids(old));
      const secret = newSecret();
      await other.directory.rotateSecret(sourceId, secret, 2_000, 2_000);
      expect(await working(sourceId, 2_000)).toEqual(ids(secret));
    });
  });
}
