import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import type { PageFilter } from '../../src/catalog/delivery-pages-contract.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { writeManyDeliveries } from '../support/many-deliveries.ts';
import { claimFor, oneSample, seedSource, sha256, store, tempCatalog } from './support.ts';

const hour = 3_600_000;
const now = 1_800_000_000_000;
const many = 100_000;

let place: Awaited<ReturnType<typeof tempCatalog>>;
let catalog: Catalog;
beforeAll(async () => {
  place = await tempCatalog();
  catalog = await openCatalog(place.url, { thread: true });
});
afterAll(async () => {
  await catalog.close();
  await place.remove();
});

describe('a few deliveries', () => {
  it('are listed received last first, by any filter, each once over all pages', async () => {
    const { sourceId } = await seedSource(catalog);
    const other = await seedSource(catalog);
    await store(catalog, claimFor(other.sourceId, { receivedAt: 6_000 }));
    const sequences: number[] = [];
    // Two share a millisecond, and one was received before others that were accepted earlier.
    for (const [receivedAt, sandbox] of [
      [5_000, false],
      [7_000, true],
      [7_000, false],
      [6_000, true],
    ] as const) {
      sequences.push(await store(catalog, claimFor(sourceId, { receivedAt, sandbox })));
    }
    const [a, b, c, d] = sequences;
    const listed = async (filter: PageFilter, limit = 2) => {
      const all: number[] = [];
      for (let after: { receivedAt: number; sequence: number } | undefined; ; ) {
        const page = { limit, ...(after && { after }) };
        const rows = await catalog.deliveryPages.page(sourceId, filter, page);
        all.push(...rows.map(({ delivery }) => delivery.sequence));
        if (rows.length < limit) return all;
        after = rows.at(-1)!.delivery;
      }
    };
    expect(await listed({})).toEqual([c, b, d, a]);
    expect(await listed({}, 1)).toEqual([c, b, d, a]);
    expect(await listed({ sandbox: true })).toEqual([b, d]);
    expect(await listed({ sandbox: false, status: 'queued' })).toEqual([c, a]);
    expect(await listed({ status: 'parsed' })).toEqual([]);
    expect(await listed({ receivedFrom: 6_000, receivedBefore: 7_000 })).toEqual([d]);
    expect(await listed({ sequences: [a!, d!], receivedFrom: 5_001 })).toEqual([d]);
    expect(await listed({ sequences: [] })).toEqual([]);
    expect(await catalog.deliveryPages.counts(sourceId, {}, 10)).toEqual({
      ...{ queued: 4, parsing: 0, parsed: 0, rejected: 0 },
    });
    const few = await catalog.deliveryPages.counts(sourceId, { receivedFrom: 6_000 }, 2);
    expect(few.queued).toBe(2);
  });

  it('are found by a name or its beginning, of their own source', async () => {
    const { sourceId } = await seedSource(catalog);
    const other = await seedSource(catalog);
    const named = (idempotencyKey: string, of = sourceId, sandbox = false) =>
      store(catalog, claimFor(of, { idempotencyKey, sandbox }));
    const may = await named('bill-2026-05');
    const test = await named('bill-2026-05', sourceId, true);
    const june = await named('bill-2026-06🧾');
    await named('bilk');
    await named('bill-2026-05', other.sourceId);
    const find = async (text: string, whole = false, limit = 10) => {
      const found = await catalog.deliveryPages.named(sourceId, { text, whole }, limit);
      return found.map((one) => one.sequence);
    };
    expect(await find('bill-2026-05', true)).toEqual([may, test]);
    expect(await find('bill-')).toEqual([may, test, june]);
    expect(await find('bill-', false, 2)).toEqual([may, test]);
    expect(await find('bill-', true)).toEqual([]);
    expect(await find('bill-2026-06🧾')).toEqual([june]);
    // Neither is a pattern.
    expect(await find('bill%')).toEqual([]);
    expect(await find('bil_')).toEqual([]);
  });

  it('tell how often their keys came with other bytes, and with which', async () => {
    const { sourceId } = await seedSource(catalog);
    const claim = claimFor(sourceId, { idempotencyKey: 'once' });
    const quiet = claimFor(sourceId);
    for (const one of [claim, quiet]) await store(catalog, one);
    for (const at of [8_000, 9_000]) {
      const probe = { ...claim, sha256: sha256(`other ${at}`) };
      await catalog.ledger.replay(probe, at);
    }
    await catalog.ledger.replay({ ...claim, idempotencyKey: 'again' }, 9_500);
    const conflicting = { conflicting: true } as const;
    const listed = await catalog.deliveryPages.page(sourceId, conflicting, { limit: 5 });
    expect(listed).toMatchObject([
      { delivery: { artifactId: claim.artifactId }, firstKey: 'once', conflicts: 2, damage: null },
    ]);
    const rejected = { ...conflicting, status: 'rejected' } as const;
    expect(await catalog.deliveryPages.page(sourceId, rejected, { limit: 5 })).toEqual([]);
    expect(await catalog.deliveryPages.details(claim.artifactId, 1)).toEqual({
      ...{ settledAt: null, parserVersion: null, waitsFor: null, checkedAt: null, damage: null },
      keys: { count: 2, first: [{ key: 'once', namedAt: 5_000 }] },
      conflicts: {
        count: 2,
        newest: [{ key: 'once', sha256: sha256('other 9000').toString('hex'), at: 9_000 }],
      },
    });
    expect(await catalog.deliveryPages.details(sourceId, 1)).toBeNull();
  });

  it('sum up to a company, sandbox only when it is asked for', async () => {
    const { companyId, sourceId } = await seedSource(catalog);
    await seedSource(catalog);
    const claims = [
      claimFor(sourceId, { receivedAt: now - 1_000, bytes: 40 }),
      claimFor(sourceId, { receivedAt: now - 61_000, bytes: 2 }),
      claimFor(sourceId, { receivedAt: now - 1_500, sandbox: true }),
      claimFor(sourceId, { receivedAt: now - 25 * hour }),
    ];
    for (const claim of claims) await store(catalog, claim);
    await settle(claims[1]!.artifactId, { parsed: 0, rejected: 3, settledAt: now - 58_000 });
    const figures = await catalog.figures.figures(companyId, { sandbox: false, now });
    expect(figures).toMatchObject({
      sources: 1,
      lag: { lookedAt: 1, medianMs: 3_000, p95Ms: 3_000 },
      backlog: { deliveries: 2, oldestReceivedAt: now - 25 * hour },
      rejected: { records: 3, deliveries: 1 },
    });
    expect(figures.minutes.slice(0, 2)).toEqual([
      { deliveries: 1, bytes: 40 },
      { deliveries: 1, bytes: 2 },
    ]);
    expect(figures.minutes).toHaveLength(15);
    const rejecting = { rejecting: true } as const;
    for (const filter of [rejecting, { ...rejecting, status: 'rejected' as const }]) {
      const found = await catalog.deliveryPages.page(sourceId, filter, { limit: 5 });
      expect(found.map((one) => one.delivery.artifactId)).toEqual([claims[1]!.artifactId]);
    }
    const parsed = { ...rejecting, status: 'parsed' } as const;
    expect(await catalog.deliveryPages.page(sourceId, parsed, { limit: 5 })).toEqual([]);
    const all = await catalog.figures.figures(companyId, { sandbox: true, now });
    expect([all.minutes[0]!.deliveries, all.backlog.deliveries]).toEqual([2, 3]);
    const nobody = await catalog.figures.figures(sourceId, { sandbox: true, now });
    expect(nobody).toMatchObject({ sources: 0, lag: null, backlog: { oldestReceivedAt: null } });
  });

  async function settle(
    artifactId: string,
    { settledAt, ...counts }: { settledAt: number; parsed: number; rejected: number },
  ) {
    const claimed = await catalog.queue.claim({
      ...{ limit: 1_000, bytesMax: 1e9, leaseMs: 1_000, now: settledAt },
    });
    const job = claimed.find((one) => one.artifactId === artifactId)!;
    const outcome = { ...job, turn: null, refusal: null, undeclaredFields: [], parserVersion: 1 };
    const status = counts.parsed > 0 ? ('parsed' as const) : ('rejected' as const);
    await catalog.queue.complete(
      [{ ...outcome, status, counts: { ...oneSample, ...counts } }],
      settledAt,
    );
    const others = claimed.filter((one) => one !== job);
    await catalog.queue.release(others, 0);
  }
});

describe('checks', () => {
  it('keep their last result, of which a company is told its own differences', async () => {
    const one = await seedSource(catalog);
    const two = await seedSource(catalog);
    const result = { check: 'verify', at: 1, ms: 2, swapped: false, differences: {} } as const;
    expect(await catalog.figures.checks(one.companyId)).toEqual([]);
    await catalog.figures.noteCheck(result);
    const differences = { [one.sourceId]: 3, [two.sourceId]: 4, '': 1 };
    await catalog.figures.noteCheck({ ...result, at: 5, differences });
    expect(await catalog.figures.checks(one.companyId)).toEqual([
      { ...result, at: 5, differences: 4 },
    ]);
    expect((await catalog.figures.checks(two.companyId))[0]!.differences).toBe(5);
  });

  it('tell of a company the artifacts that are damaged, and where the round stands', async () => {
    const { companyId, sourceId } = await seedSource(catalog);
    const other = await seedSource(catalog);
    const [own, others] = [claimFor(sourceId), claimFor(other.sourceId)];
    for (const claim of [own, others]) await store(catalog, claim);
    expect(await catalog.figures.round()).toBeNull();
    const want = { limit: 1, bytesMax: 1e9, roundMs: 1, now: 77 };
    await catalog.upkeep.nextToCheck(want);
    expect(await catalog.figures.round()).toEqual({ beganAt: 77, over: false });
    await catalog.upkeep.nextToCheck({ ...want, limit: 1_000 });
    expect(await catalog.figures.round()).toEqual({ beganAt: 77, over: true });
    await catalog.upkeep.noteChecks(
      [own, others].map(({ artifactId }) => ({ artifactId, at: 80, damage: 'missing' as const })),
    );
    expect(await catalog.figures.damaged(companyId, 5)).toEqual({
      count: 1,
      newest: [{ artifactId: own.artifactId, sourceId, damage: 'missing', checkedAt: 80 }],
    });
  });
});

describe(`${many} deliveries of one source`, () => {
  /** Well above what a read takes, well below what an event loop may stand. */
  const slowMs = 30;
  let sourceId: string;
  let companyId: string;
  beforeAll(async () => {
    ({ sourceId, companyId } = await seedSource(catalog));
    // All received in ten minutes; one of 97 waits, of 89 is rejected, of 83 is sandbox.
    writeManyDeliveries(place.path, { sourceId, many, now, waiting: true });
  });

  const reads: Record<string, () => Promise<unknown>> = {
    'the newest': () => page({}),
    'older ones': () => page({}, now - 500_000),
    'those that wait': () => page({ status: 'queued' }),
    'rejected ones in sandbox': () => page({ status: 'rejected', sandbox: true }),
    'of some seconds': () => page({ receivedFrom: now - 400_000, receivedBefore: now - 399_000 }),
    'of no time': () => page({ receivedBefore: 1 }),
    'with rejected records': () => page({ rejecting: true }),
    'with conflicts': () => page({ conflicting: true }),
    'with conflicts, rejected': () => page({ conflicting: true, status: 'rejected' }),
    'of a beginning that very many share': async () => {
      const found = await catalog.deliveryPages.named(
        sourceId,
        { text: 'key-', whole: false },
        500,
      );
      return page({ sequences: found.map((one) => one.sequence) });
    },
    'counts by status': () => catalog.deliveryPages.counts(sourceId, {}, 10_000),
    'the figures of the company': () => {
      return catalog.figures.figures(companyId, { sandbox: true, now });
    },
  };
  function page(filter: PageFilter, receivedAt?: number) {
    const after = receivedAt === undefined ? {} : { after: { receivedAt, sequence: 1 } };
    return catalog.deliveryPages.page(sourceId, filter, { limit: 50, ...after });
  }

  it.each(Object.entries(reads))('%s are there at once', async (_, read) => {
    await read();
    const took: number[] = [];
    for (let i = 0; i < 5; i++) {
      const began = performance.now();
      await read();
      took.push(performance.now() - began);
    }
    expect(Math.min(...took)).toBeLessThan(slowMs);
  });

  it('are what was stored', async () => {
    const waiting = Math.floor(many / 97);
    const rejected = Math.floor(many / 89) - Math.floor(many / (89 * 97));
    const counts = await catalog.deliveryPages.counts(sourceId, {}, 10_000);
    expect(counts).toEqual({ queued: waiting, parsing: 0, parsed: 10_000, rejected });
    const figures = await catalog.figures.figures(companyId, { sandbox: true, now });
    expect(figures.backlog.deliveries).toBe(waiting);
    expect(figures.rejected.deliveries).toBe(rejected);
    const sum = figures.minutes.reduce((all, one) => all + one.deliveries, 0);
    expect(sum).toBe(many);
    // i % 6 = 0 to 100000: received so long before they were settled, all at once.
    expect(figures.lag!.medianMs).toBeGreaterThan(290_000);
    expect(figures.lag!.medianMs).toBeLessThan(310_000);
  });
});
