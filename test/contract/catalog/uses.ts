import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { newKey, newSecret, seedSource } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

export function usesContract(on: Subject): void {
  it('put last-used times of keys and secrets forward, never back', async () => {
    const secret = newSecret();
    const { sourceId } = await seedSource(on.catalog, { delivery: 'webhook', secret });
    const key = newKey(sourceId);
    await on.catalog.directory.createKey(key, 1);
    const still = await on.catalog.directory.createKey(newKey(sourceId), 1);
    for (const [at, lastUsedAt] of [
      [500, 500],
      [400, 500],
      [501, 501],
    ] as const) {
      await on.catalog.directory.noteUses({
        keys: [{ id: key.keyId, at }],
        secrets: [{ id: secret.secretId, at: 10 * at }],
      });
      expect((await on.catalog.lookup.key(key.hash))?.key.lastUsedAt).toBe(lastUsedAt);
      const [one] = await on.catalog.directory.secrets(sourceId);
      expect(one!.lastUsedAt).toBe(10 * lastUsedAt);
    }
    expect(await on.catalog.directory.key(still.keyId)).toMatchObject({ lastUsedAt: null });
  });

  it('of two processes leave the latest time, whichever comes last', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const other = await on.another();
    const { keyId } = await on.catalog.directory.createKey(newKey(sourceId), 1);
    const times = Array.from({ length: 30 }, (_, i) => ((i * 7) % 30) + 1_000);
    await Promise.all(
      times.map((at, i) =>
        (i % 2 ? other : on.catalog).directory.noteUses({ keys: [{ id: keyId, at }], secrets: [] }),
      ),
    );
    expect(await on.catalog.directory.key(keyId)).toMatchObject({ lastUsedAt: 1_029 });
  });

  it('of what is not there are passed over, the others noted; nothing at all is fine', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const { keyId } = await on.catalog.directory.createKey(newKey(sourceId), 1);
    const keys = [randomUUID(), keyId, randomUUID()].map((id) => ({ id, at: 5 }));
    await on.catalog.directory.noteUses({ keys, secrets: [{ id: randomUUID(), at: 5 }] });
    expect(await on.catalog.directory.key(keyId)).toMatchObject({ lastUsedAt: 5 });
    await on.catalog.directory.noteUses({ keys: [], secrets: [] });
  });
}
