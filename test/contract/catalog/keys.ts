import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { NextKey } from '../../../src/catalog/catalog.ts';
import { newKey, newSecret, seedSource } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

export function keysContract(on: Subject): void {
  it('are listed in the order of their creation, and found by their id', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const { directory } = on.catalog;
    const made = [];
    for (let i = 0; i < 3; i++) {
      made.push(await directory.createKey(newKey(sourceId, { sandbox: true }), 10 - i));
    }
    expect(await directory.keys(sourceId)).toEqual(made);
    expect(await directory.key(made[1]!.keyId)).toEqual(made[1]);
    expect(await directory.key(randomUUID())).toBeNull();
    await expect(directory.key('mine')).rejects.toMatchObject({ code: 'id_malformed' });
    expect(made[0]).toEqual({
      keyId: made[0]!.keyId,
      sourceId,
      scope: 'read_write',
      sandbox: true,
      demo: false,
      createdAt: 10,
      expiresAt: 9_000,
      lastUsedAt: null,
      revokedAt: null,
      rotatedTo: null,
    });
  });

  it('may be a demo key', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const key = newKey(sourceId, { scope: 'read', demo: true });
    expect(await on.catalog.directory.createKey(key, 1)).toMatchObject({ demo: true });
    expect((await on.catalog.lookup.key(key.hash))?.key.demo).toBe(true);
  });

  it('keep the first time of their revocation', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const { keyId } = await on.catalog.directory.createKey(newKey(sourceId), 1);
    expect((await on.catalog.directory.revokeKey(keyId, 50)).revokedAt).toBe(50);
    expect((await on.catalog.directory.revokeKey(keyId, 60)).revokedAt).toBe(50);
    const lost = on.catalog.directory.revokeKey(randomUUID(), 1);
    await expect(lost).rejects.toMatchObject({ code: 'key_not_found' });
  });

  it('are refused for an unknown source, and with an id or a hash that is taken', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const key = newKey(sourceId);
    await on.catalog.directory.createKey(key, 1);
    const { directory } = on.catalog;
    const sameId = directory.createKey({ ...key, hash: randomBytes(32) }, 1);
    await expect(sameId).rejects.toMatchObject({ code: 'key_exists' });
    const sameHash = directory.createKey({ ...key, keyId: randomUUID() }, 1);
    await expect(sameHash).rejects.toMatchObject({ code: 'key_exists' });
    const lost = directory.createKey(newKey(randomUUID()), 1);
    await expect(lost).rejects.toMatchObject({ code: 'source_not_found' });
  });

  it('of a webhook source can only read when they are sandbox keys (DECISIONS 1)', async () => {
    const { sourceId } = await seedSource(on.catalog, { delivery: 'webhook', secret: newSecret() });
    const { directory } = on.catalog;
    for (const scope of ['write', 'read_write', null] as const) {
      const key = newKey(sourceId, { scope, sandbox: true });
      const refusal = { code: 'webhook_sandbox_key', field: 'scope' };
      await expect(directory.createKey(key, 1)).rejects.toMatchObject(refusal);
    }
    expect(await directory.keys(sourceId)).toEqual([]);
    await directory.createKey(newKey(sourceId, { scope: 'read', sandbox: true }), 1);
    await directory.createKey(newKey(sourceId, { scope: 'write' }), 1);
    expect(await directory.keys(sourceId)).toHaveLength(2);
  });

  describe('rotation (specification, "Access keys" 8)', () => {
    const next = (over: Partial<NextKey> = {}): NextKey => ({
      keyId: randomUUID(),
      hash: randomBytes(32),
      expiresAt: 50_000,
      overlapEndsAt: 4_000,
      ...over,
    });

    it('keeps scope and sandbox; the old key ends with the overlap', async () => {
      const { sourceId } = await seedSource(on.catalog);
      for (const [scope, sandbox, demo] of [
        ['read', true, false],
        ['write', false, false],
        ['read', false, true],
      ] as const) {
        const old = newKey(sourceId, { scope, sandbox, demo });
        await on.catalog.directory.createKey(old, 1);
        const taking = next();
        const key = await on.catalog.directory.rotateKey(old.keyId, taking, 2_000);
        expect(key).toEqual({
          ...{ keyId: taking.keyId, sourceId, scope, sandbox, demo },
          ...{ createdAt: 2_000, expiresAt: 50_000 },
          ...{ lastUsedAt: null, revokedAt: null, rotatedTo: null },
        });
        expect((await on.catalog.lookup.key(taking.hash))?.key).toEqual(key);
        expect((await on.catalog.lookup.key(old.hash))?.key).toMatchObject({
          ...{ expiresAt: 4_000, revokedAt: null, rotatedTo: taking.keyId },
        });
      }
    });

    it('never lengthens the life of the old key, and no overlap ends it at once', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      for (const [overlapEndsAt, endsAt] of [
        [9_001, 9_000],
        [9_000, 9_000],
        [2_000, 2_000],
      ] as const) {
        const { keyId } = await directory.createKey(newKey(sourceId), 1);
        await directory.rotateKey(keyId, next({ overlapEndsAt }), 2_000);
        expect(await directory.key(keyId)).toMatchObject({ expiresAt: endsAt });
      }
    });

    it('takes a key of the time before scopes for a write key', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { keyId } = await on.catalog.directory.createKey(newKey(sourceId, { scope: null }), 1);
      const key = await on.catalog.directory.rotateKey(keyId, next(), 2_000);
      expect(key.scope).toBe('write');
    });

    it('is refused for keys that are revoked, expired, rotated or not there', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      const make = async () => (await directory.createKey(newKey(sourceId), 1)).keyId;
      const [revoked, expired, rotated] = [await make(), await make(), await make()];
      await directory.revokeKey(revoked, 10);
      await directory.rotateKey(rotated, next(), 2_000);
      const before = await directory.keys(sourceId);
      for (const [keyId, now, code] of [
        [revoked, 2_001, 'key_not_rotatable'],
        [expired, 9_000, 'key_not_rotatable'],
        [rotated, 2_001, 'key_not_rotatable'],
        [randomUUID(), 2_001, 'key_not_found'],
      ] as const) {
        const refused = directory.rotateKey(keyId, next(), now);
        await expect(refused).rejects.toMatchObject({ name: 'CatalogRefusal', code });
      }
      expect(await directory.keys(sourceId)).toEqual(before);
      // The last moment of its life is one before its end.
      await directory.rotateKey(expired, next(), 8_999);
    });

    it('is refused with an id or a hash that is taken, and changes nothing then', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      const old = newKey(sourceId);
      const made = await directory.createKey(old, 1);
      for (const taken of [next({ keyId: old.keyId }), next({ hash: old.hash })]) {
        const refused = directory.rotateKey(old.keyId, taken, 2);
        await expect(refused).rejects.toMatchObject({ code: 'key_exists' });
      }
      expect(await directory.keys(sourceId)).toEqual([made]);
    });

    it('happens once when many ask for it over two handles', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const other = await on.another();
      const { keyId } = await on.catalog.directory.createKey(newKey(sourceId), 1);
      const asked = Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? other : on.catalog).directory.rotateKey(keyId, next(), 2_000),
      );
      const ended = await Promise.allSettled(asked);
      const codes = ended.map((one) => (one.status === 'rejected' ? one.reason.code : 'done'));
      expect(codes.filter((code) => code === 'done')).toHaveLength(1);
      expect(codes.filter((code) => code === 'key_not_rotatable')).toHaveLength(19);
      expect(await on.catalog.directory.keys(sourceId)).toHaveLength(2);
    });
  });
}
