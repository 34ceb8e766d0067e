import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { LedgerModel, type ModelProbe } from './model.ts';
import { claimFor, newSource, seedCompany, sha256, tempCatalog } from './support.ts';

type Step =
  | { readonly kind: 'record'; readonly probes: readonly Few[] }
  | { readonly kind: 'replay' | 'known'; readonly probes: readonly Few[] }
  | { readonly kind: 'reopen' };

/** Few keys and bodies over few places, so that they meet. */
interface Few {
  readonly source: number;
  readonly sandbox: boolean;
  readonly key: string;
  readonly body: string;
}

const few: fc.Arbitrary<Few> = fc.record({
  source: fc.nat(1),
  sandbox: fc.boolean(),
  key: fc.constantFrom('\u00e9', 'e\u0301', 'k', 'K', 'a-key-of-36-bytes-like-a-uuid-would-be'),
  body: fc.constantFrom('1', '2', '3'),
});
const probes = fc.array(few, { minLength: 1, maxLength: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('record' as const), probes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replay' as const), probes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('known' as const), probes }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
);

async function follow(catalog: Catalog, model: LedgerModel, sources: string[], now: Step) {
  if (now.kind === 'reopen') return;
  const asked = now.probes.map((one): ModelProbe & { claim: ReturnType<typeof claimFor> } => {
    const { sandbox, key } = one;
    const body = sha256(one.body);
    const sourceId = sources[one.source]!;
    const claim = claimFor(sourceId, { sandbox, idempotencyKey: key, sha256: body });
    return { sourceId, sandbox, key, sha256: body.toString('hex'), claim };
  });
  if (now.kind === 'known') {
    for (const one of asked)
      expect(await catalog.lookup.known(one.claim)).toEqual(model.known(one));
    return;
  }
  if (now.kind === 'replay') {
    for (const one of asked) {
      expect(await catalog.ledger.replay(one.claim, 1)).toEqual(model.replay(one));
    }
    return;
  }
  // All at once: they share groups, and must come out as one after another.
  const verdicts = await Promise.all(asked.map((one) => catalog.ledger.record(one.claim)));
  for (const [i, one] of asked.entries()) {
    const verdict = verdicts[i]!;
    const told = verdict.outcome === 'stored' ? 'stored' : verdict.known;
    expect(told).toEqual(model.record(one, one.claim.artifactId));
  }
}

async function agree(catalog: Catalog, model: LedgerModel): Promise<void> {
  let last = 0;
  for (const { receipt, sha256: body, names, conflicts } of model.deliveries) {
    const { artifactId } = receipt;
    const delivery = await catalog.deliveries.byArtifact(artifactId);
    expect(delivery).toMatchObject({ sha256: body, sandbox: receipt.sandbox });
    expect(delivery!.sequence).toBeGreaterThan(last);
    last = delivery!.sequence;
    expect(await catalog.deliveries.idempotencyKeys(artifactId)).toEqual(names);
    expect(await catalog.deliveries.conflicts(artifactId)).toBe(conflicts);
  }
  const backlog = await catalog.queue.backlog();
  expect(backlog.deliveries).toBe(model.deliveries.length);
}

it('the ledger agrees with a plain model over any steps and reopenings', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const place = await tempCatalog();
      let catalog = await openCatalog(place.url, { thread: false });
      try {
        const { companyId } = await seedCompany(catalog);
        const sources = [];
        for (let i = 0; i < 2; i++) {
          sources.push((await catalog.directory.createSource(newSource(companyId), 1)).sourceId);
        }
        const model = new LedgerModel();
        for (const now of steps) {
          await follow(catalog, model, sources, now);
          if (now.kind !== 'reopen') continue;
          await catalog.close();
          catalog = await openCatalog(place.url, { thread: false });
        }
        await agree(catalog, model);
      } finally {
        await catalog.close();
        await place.remove();
      }
    }),
    { numRuns: 60 },
  );
});
