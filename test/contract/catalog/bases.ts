import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { claimFor, seedSource, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';
import { drain, parsed, want } from './queue.ts';

/** What a rebuild goes by: each delivery with the basis of what stands and of what is parsed. */
export function basesContract(on: Subject): void {
  beforeEach(() => drain(on.catalog));

  const basisOf = async (sequence: number) => {
    const [basis] = await on.catalog.deliveries.bases({ after: sequence - 1, limit: 1 });
    return basis!;
  };

  it('goes through all deliveries of all sources in accepted order, page by page', async () => {
    const [a, b] = [await seedSource(on.catalog), await seedSource(on.catalog)];
    const sequences: number[] = [];
    for (const { sourceId } of [a, b, a, b, a]) {
      sequences.push(await store(on.catalog, claimFor(sourceId, { bytes: 7 })));
    }
    const found: number[] = [];
    let after = sequences[0]! - 1;
    for (;;) {
      const page = await on.catalog.deliveries.bases({ after, limit: 2 });
      if (page.length === 0) break;
      found.push(...page.map(({ delivery }) => delivery.sequence));
      after = found.at(-1)!;
    }
    expect(found).toEqual(sequences);
    const { deliveries, bytes } = await on.catalog.deliveries.extent();
    expect(deliveries).toBeGreaterThanOrEqual(5);
    expect(bytes).toBeGreaterThanOrEqual(35);
  });

  it('gives the basis of a claim for what is parsed, and for what stands', async () => {
    const { sourceId, companyId } = await seedSource(on.catalog);
    const sequence = await store(on.catalog, claimFor(sourceId));
    expect(await basisOf(sequence)).toMatchObject({ standing: null, underWay: null });
    expect(await on.catalog.deliveries.waiting()).toEqual([sequence]);
    const [job] = await on.catalog.queue.claim(want());
    const later = { key: 'later', name: 'Later', unit: 'one', labels: [] };
    await on.catalog.directory.declareMetric(companyId, later, 2);
    const basis = { generation: 0, shape: job!.shape, metrics: job!.metrics };
    expect(await basisOf(sequence)).toMatchObject({ standing: null, underWay: basis });
    await on.catalog.queue.complete([parsed(job!)], 1);
    const standing = await basisOf(sequence);
    expect(standing).toMatchObject({ standing: basis, underWay: null, parserVersion: 1 });
    expect(standing.standing!.metrics.map(({ key }) => key)).toEqual(['visits']);
    expect(await on.catalog.deliveries.waiting()).toEqual([]);
  });

  it('keeps what stands while a next generation waits and is parsed', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claim = claimFor(sourceId);
    const sequence = await store(on.catalog, claim);
    await drain(on.catalog);
    await on.catalog.directory.saveSource(sourceId, { savedBy: 'a' }, 2);
    const { artifactId } = claim;
    const again = { artifactIds: [artifactId], shapeVersion: 2 };
    const [begun] = await on.catalog.reparses.begin(again, 3_000);
    expect(await on.catalog.deliveries.waiting()).toEqual([sequence]);
    const first = { generation: 0, shape: { version: 1 } };
    expect(await basisOf(sequence)).toMatchObject({ standing: first, underWay: null });
    await on.catalog.queue.claim(want());
    const next = { generation: begun!.generation, shape: { version: 2 } };
    expect(await basisOf(sequence)).toMatchObject({ standing: first, underWay: next });
    await drain(on.catalog);
    expect(await basisOf(sequence)).toMatchObject({ standing: next, underWay: null });
  });

  it('says whether a turn is still held when it is put further out', async () => {
    const { reparses } = on.catalog;
    const turn = await reparses.takeTurn({ sourceId: null, leaseMs: 10, now: 100 });
    expect(await reparses.takeTurn({ sourceId: null, leaseMs: 10, now: 105 })).toBeNull();
    expect(await reparses.extendTurn(turn!.token, 200)).toBe(true);
    const other = await reparses.takeTurn({ sourceId: null, leaseMs: 10, now: 300 });
    expect(await reparses.extendTurn(turn!.token, 400)).toBe(false);
    expect(await reparses.extendTurn(randomUUID(), 400)).toBe(false);
    await reparses.endTurn(other!.token);
  });
}
