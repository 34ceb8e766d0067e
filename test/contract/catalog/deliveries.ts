import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { claimFor, newSecret, seedSource, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

export function deliveriesContract(on: Subject): void {
  it('gives a delivery as it was claimed', async () => {
    const { sourceId } = await seedSource(on.catalog);
    await on.catalog.directory.saveSource(sourceId, { savedBy: 'a' }, 2);
    const claim = claimFor(sourceId, {
      shapeVersion: 2,
      sandbox: true,
      delivery: 'document',
      mediaType: 'text/csv; charset=utf-8',
      encoding: 'zstd',
      bytes: 8_388_608,
      receivedAt: 1_763_680_000_123,
      place: { object: 'segments/é/1', offset: 5_000_000_000, length: 8_388_608 },
    });
    const sequence = await store(on.catalog, claim);
    expect(await on.catalog.deliveries.byArtifact(claim.artifactId)).toEqual({
      artifactId: claim.artifactId,
      sourceId,
      sandbox: true,
      sequence,
      receiptShapeVersion: 2,
      shapeVersion: 2,
      generation: 0,
      status: 'queued',
      sha256: claim.sha256.toString('hex'),
      bytes: 8_388_608,
      delivery: 'document',
      mediaType: 'text/csv; charset=utf-8',
      encoding: 'zstd',
      receivedAt: 1_763_680_000_123,
      place: claim.place,
      secretId: null,
      counts: null,
      refusal: null,
      undeclaredFields: [],
    });
    expect(await on.catalog.deliveries.byArtifact(randomUUID())).toBeNull();
  });

  it('keeps which secret verified a webhook, and claims nothing under an unknown one', async () => {
    const secret = newSecret();
    const { sourceId } = await seedSource(on.catalog, { delivery: 'webhook', secret });
    const { secretId } = secret;
    const claim = claimFor(sourceId, { delivery: 'webhook', secretId });
    await store(on.catalog, claim);
    expect(await on.catalog.deliveries.byArtifact(claim.artifactId)).toMatchObject({ secretId });
    const [listed] = await on.catalog.deliveries.list(sourceId, { limit: 1 });
    expect(listed).toMatchObject({ secretId });
    const stranger = claimFor(sourceId, { delivery: 'webhook', secretId: randomUUID() });
    await expect(on.catalog.ledger.record(stranger)).rejects.toThrow(/foreign key/i);
    expect(await on.catalog.deliveries.byArtifact(stranger.artifactId)).toBeNull();
    expect(await on.catalog.lookup.keyIsKnown(stranger)).toBe(false);
  });

  it('lists a source newest accepted first, page by page, each delivery once', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const other = await seedSource(on.catalog);
    const artifacts = [];
    for (let i = 0; i < 7; i++) {
      const claim = claimFor(sourceId, { receivedAt: 9_000 - i });
      await store(on.catalog, claim);
      await store(on.catalog, claimFor(other.sourceId));
      artifacts.unshift(claim.artifactId);
    }
    const seen = [];
    let before: number | undefined;
    for (;;) {
      const page = before === undefined ? { limit: 3 } : { limit: 3, before };
      const rows = await on.catalog.deliveries.list(sourceId, page);
      if (rows.length === 0) break;
      seen.push(...rows.map((row) => row.artifactId));
      before = rows.at(-1)!.sequence;
    }
    expect(seen).toEqual(artifacts);
    expect(await on.catalog.deliveries.list(randomUUID(), { limit: 3 })).toEqual([]);
  });

  it('tells which of many objects are referenced', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claims = [claimFor(sourceId), claimFor(sourceId)];
    for (const claim of claims) await store(on.catalog, claim);
    const objects = claims.map((claim) => claim.place.object);
    const strangers = Array.from({ length: 1_200 }, () => randomUUID());
    const asked = [objects[0]!, ...strangers, objects[1]!];
    expect(await on.catalog.deliveries.referenced(asked)).toEqual(new Set(objects));
    expect(await on.catalog.deliveries.referenced([])).toEqual(new Set());
  });

  it('tells which of many deliveries there are', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claims = [claimFor(sourceId), claimFor(sourceId)];
    for (const claim of claims) await store(on.catalog, claim);
    const ids = claims.map((claim) => claim.artifactId);
    const strangers = Array.from({ length: 1_200 }, () => randomUUID());
    const asked = [ids[0]!, ...strangers, ids[1]!];
    expect(await on.catalog.deliveries.known(asked)).toEqual(new Set(ids));
    expect(await on.catalog.deliveries.known([])).toEqual(new Set());
  });

  it('knows no names and no conflicts of a delivery that is not there', async () => {
    expect(await on.catalog.deliveries.idempotencyKeys(randomUUID())).toEqual([]);
    expect(await on.catalog.deliveries.conflicts(randomUUID())).toBe(0);
  });
}
