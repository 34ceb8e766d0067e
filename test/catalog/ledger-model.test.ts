import { copyFileSync, existsSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { LedgerModel, type ModelProbe } from './model.ts';
import { claimFor, newSource, seedCompany, sha256, tempCatalog } from './support.ts';

type Step =
  | { readonly kind: 'record'; readonly probes: readonly Few[] }
  | { readonly kind: 'replay' | 'known'; readonly probes: readonly Few[] }
  | { readonly kind: 'reopen' }
  /** While these are being recorded, so many turns of the event loop after they were sent. */
  | { readonly kind: 'crash'; readonly probes: readonly Few[]; readonly turns: number };

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
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), probes, turns: fc.nat(4) }),
  },
);

type Asked = ModelProbe & { readonly claim: ReturnType<typeof claimFor> };

function askedOf(probes: readonly Few[], sources: readonly string[]): Asked[] {
  return probes.map((one) => {
    const { sandbox, key } = one;
    const body = sha256(one.body);
    const sourceId = sources[one.source]!;
    const claim = claimFor(sourceId, { sandbox, idempotencyKey: key, sha256: body });
    return { sourceId, sandbox, key, sha256: body.toString('hex'), claim };
  });
}

async function follow(catalog: Catalog, model: LedgerModel, sources: string[], now: Step) {
  if (now.kind === 'reopen' || now.kind === 'crash') return;
  const asked = askedOf(now.probes, sources);
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

/** A catalog that goes on from the files as they were at one moment, again and again. */
class CrashingCatalog {
  catalog: Catalog;
  #place: Awaited<ReturnType<typeof tempCatalog>>;

  private constructor(place: Awaited<ReturnType<typeof tempCatalog>>, catalog: Catalog) {
    this.#place = place;
    this.catalog = catalog;
  }

  static async make(): Promise<CrashingCatalog> {
    const place = await tempCatalog();
    return new CrashingCatalog(place, await openCatalog(place.url, { thread: false }));
  }

  async reopen(): Promise<void> {
    await this.catalog.close();
    this.catalog = await openCatalog(this.#place.url, { thread: false });
  }

  /**
   * The process dies while these are being recorded: what its files hold at that moment is all
   * there is.
   *
   * @returns those that had their answer
   */
  async crash(asked: readonly Asked[], turns: number): Promise<Asked[]> {
    const answered: Asked[] = [];
    const recording = asked.map(async (one) => {
      await this.catalog.ledger.record(one.claim);
      answered.push(one);
    });
    for (let n = 0; n < turns; n++) await turn();
    const next = await tempCatalog();
    const told = [...answered];
    for (const end of ['', '-wal']) {
      const file = `${this.#place.path}${end}`;
      if (existsSync(file)) copyFileSync(file, `${next.path}${end}`);
    }
    await Promise.all(recording);
    await this.remove();
    this.#place = next;
    this.catalog = await openCatalog(next.url, { thread: false });
    return told;
  }

  async remove(): Promise<void> {
    await this.catalog.close();
    await this.#place.remove();
  }
}

/** Those that share a group hold together, or none does; whoever was answered holds. */
async function afterCrash(
  catalog: Catalog,
  without: LedgerModel,
  asked: readonly Asked[],
  answered: readonly Asked[],
): Promise<LedgerModel> {
  const withAll = without.clone();
  for (const one of asked) withAll.record(one, one.claim.artifactId);
  if (answered.length === 0) {
    const holdsNone = await agree(catalog, without).then(
      () => true,
      () => false,
    );
    if (holdsNone) return without;
  }
  await agree(catalog, withAll);
  return withAll;
}

it('the ledger agrees with a plain model over any steps, reopenings and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const on = await CrashingCatalog.make();
      try {
        const { companyId } = await seedCompany(on.catalog);
        const sources = [];
        for (let i = 0; i < 2; i++) {
          const { directory } = on.catalog;
          sources.push((await directory.createSource(newSource(companyId), 1)).sourceId);
        }
        let model = new LedgerModel();
        for (const now of steps) {
          await follow(on.catalog, model, sources, now);
          if (now.kind === 'reopen') await on.reopen();
          if (now.kind !== 'crash') continue;
          const asked = askedOf(now.probes, sources);
          const answered = await on.crash(asked, now.turns);
          model = await afterCrash(on.catalog, model, asked, answered);
        }
        await agree(on.catalog, model);
      } finally {
        await on.remove();
      }
    }),
    { numRuns: 60 },
  );
});
