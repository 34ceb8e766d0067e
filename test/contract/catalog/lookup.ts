import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { claimFor, seedSource, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

export function lookupContract(on: Subject): void {
  it('finds a key by its hash, with its source as it is now and its company', async () => {
    const { company, sourceId } = await seedSource(on.catalog);
    const hash = randomBytes(32);
    const made = { keyId: randomUUID(), sourceId, hash, sandbox: false, expiresAt: 9 };
    const key = await on.catalog.directory.createKey({ ...made, scope: 'read' }, 1);
    await on.catalog.directory.saveSource(sourceId, { savedBy: 'a' }, 2);
    const source = await on.catalog.directory.source(sourceId);
    expect(source?.shapeVersion).toBe(2);
    const samples = { version: expect.any(Number), turnEndsAt: null };
    expect(await on.catalog.lookup.key(hash)).toEqual({ key, source, company, samples });
    expect(await on.catalog.lookup.key(randomBytes(32))).toBeNull();
  });

  it('takes a key of the time before scopes for a write key', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const hash = randomBytes(32);
    const made = { keyId: randomUUID(), sourceId, hash, sandbox: false, expiresAt: 9 };
    await on.catalog.directory.createKey({ ...made, scope: null }, 1);
    expect((await on.catalog.lookup.key(hash))?.key.scope).toBe('write');
  });

  it('sees a revocation made through another handle with the next call', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const other = await on.another();
    const hash = randomBytes(32);
    const made = { keyId: randomUUID(), sourceId, hash, sandbox: false, expiresAt: 9 };
    await on.catalog.directory.createKey({ ...made, scope: 'write' }, 1);
    expect((await on.catalog.lookup.key(hash))?.key.revokedAt).toBeNull();
    await other.directory.revokeKey(made.keyId, 77);
    expect((await on.catalog.lookup.key(hash))?.key.revokedAt).toBe(77);
  });

  it('knows a delivery by its key whatever the body, and by its body under any key', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claim = claimFor(sourceId);
    const { lookup } = on.catalog;
    expect(await lookup.known(claim)).toBeNull();
    await store(on.catalog, claim);
    const receipt = { artifactId: claim.artifactId, shapeVersion: 1, sandbox: false };
    expect(await lookup.known(claim)).toEqual({ by: 'key', receipt, bodyDiffers: false });
    const otherBody = { ...claim, sha256: randomBytes(32) };
    expect(await lookup.known(otherBody)).toEqual({ by: 'key', receipt, bodyDiffers: true });
    const otherKey = { ...claim, idempotencyKey: 'another' };
    expect(await lookup.known(otherKey)).toEqual({ by: 'body', receipt, bodyDiffers: false });
    expect(await lookup.keyIsKnown(claim)).toBe(true);
    expect(await lookup.keyIsKnown(otherKey)).toBe(false);
  });

  it('keeps sources and sandbox apart', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const other = await seedSource(on.catalog);
    const claim = claimFor(sourceId);
    await store(on.catalog, claim);
    expect(await on.catalog.lookup.known({ ...claim, sandbox: true })).toBeNull();
    expect(await on.catalog.lookup.known({ ...claim, sourceId: other.sourceId })).toBeNull();
    expect(await on.catalog.lookup.known({ ...claim, sourceId: randomUUID() })).toBeNull();
    expect(await on.catalog.lookup.shape(randomUUID(), 1)).toBeNull();
  });
}
