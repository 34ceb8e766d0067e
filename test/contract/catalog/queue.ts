import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Catalog, Job, Outcome } from '../../../src/catalog/catalog.ts';
import { limits } from '../../../src/domain/limits.ts';
import { claimFor, oneSample, seedCompany, seedSource, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

export const want = (over: object = {}) => ({
  limit: 100,
  bytesMax: 1_000_000,
  leaseMs: 60_000,
  now: 10_000,
  ...over,
});

export const parsed = (
  job: { artifactId: string; token: string; generation?: number },
  turn: string | null = null,
): Outcome => ({
  artifactId: job.artifactId,
  token: job.token,
  generation: job.generation ?? 0,
  turn,
  status: 'parsed',
  counts: oneSample,
  refusal: null,
  undeclaredFields: [],
  parserVersion: 1,
});

const ids = (jobs: readonly { artifactId: string }[]) => jobs.map((job) => job.artifactId);

/** Stores so many deliveries and gives their artifact ids in accepted order. */
async function wait(catalog: Catalog, many: number): Promise<string[]> {
  const { sourceId } = await seedSource(catalog);
  const claims = Array.from({ length: many }, () => claimFor(sourceId));
  for (const claim of claims) await store(catalog, claim);
  return ids(claims);
}

/** Completes whatever waits, for its first generation or a next one. */
export async function drain(catalog: Catalog): Promise<void> {
  for (;;) {
    const jobs = await catalog.queue.claim(want({ now: Number.MAX_SAFE_INTEGER - 60_000 }));
    if (jobs.length === 0) return;
    for (const job of jobs) {
      const { sourceId } = job.delivery;
      const turn = await catalog.reparses.takeTurn({ sourceId, leaseMs: 1, now: 1 });
      await catalog.queue.complete([parsed(job, turn!.token)], 1);
      await catalog.reparses.endTurn(turn!.token);
    }
  }
}

export function queueContract(on: Subject): void {
  beforeEach(() => drain(on.catalog));
  describe('claim', () => claiming(on));
  describe('complete', () => completing(on));
  describe('release and crashed', () => failing(on));
  describe('the basis of a parse', () => basis(on));
}

function claiming(on: Subject): void {
  it('takes what waits in accepted order, each once', async () => {
    const artifacts = await wait(on.catalog, 5);
    const first = await on.catalog.queue.claim(want({ limit: 3 }));
    const second = await on.catalog.queue.claim(want());
    expect(ids([...first, ...second])).toEqual(artifacts);
    expect(await on.catalog.queue.claim(want())).toEqual([]);
  });

  it('gives each job its delivery, its shape and its company', async () => {
    const { company, sourceId } = await seedSource(on.catalog);
    const claim = claimFor(sourceId, { sandbox: true, encoding: 'gzip', bytes: 7 });
    await store(on.catalog, claim);
    await on.catalog.directory.saveSource(sourceId, { name: 'New', savedBy: 'b' }, 5);
    const [job] = await on.catalog.queue.claim(want());
    expect(job).toMatchObject({
      artifactId: claim.artifactId,
      company,
      shape: await on.catalog.lookup.shape(sourceId, 1),
      metrics: await on.catalog.directory.metrics(company.companyId),
      failures: 0,
    });
    expect(job!.delivery).toEqual(await on.catalog.deliveries.byArtifact(claim.artifactId));
    expect(job!.delivery).toMatchObject({
      status: 'parsing',
      sandbox: true,
      encoding: 'gzip',
      sha256: claim.sha256.toString('hex'),
      place: claim.place,
      generation: 0,
      counts: null,
    });
  });

  it('keeps the bodies within the bytes wanted, but takes a first one always', async () => {
    const { sourceId } = await seedSource(on.catalog);
    for (const bytes of [500, 100, 50, 60]) {
      await store(on.catalog, claimFor(sourceId, { bytes }));
    }
    const sizes = async (bytesMax: number) =>
      (await on.catalog.queue.claim(want({ bytesMax }))).map((job) => job.delivery.bytes);
    expect(await sizes(200)).toEqual([500]);
    expect(await sizes(150)).toEqual([100, 50]);
    expect(await sizes(150)).toEqual([60]);
  });

  it('takes a delivery whose lease ran out again, and counts the failure', async () => {
    const [artifact] = await wait(on.catalog, 1);
    const [first] = await on.catalog.queue.claim(want({ leaseMs: 1_000 }));
    expect(await on.catalog.queue.claim(want({ now: 10_999 }))).toEqual([]);
    const [second] = await on.catalog.queue.claim(want({ now: 11_000 }));
    expect(second).toMatchObject({ artifactId: artifact, failures: 1 });
    expect(second!.token).not.toBe(first!.token);
  });

  it('takes nothing whose lease was put further out', async () => {
    await wait(on.catalog, 1);
    const jobs = await on.catalog.queue.claim(want({ leaseMs: 1_000 }));
    await on.catalog.queue.extend(jobs, 20_000);
    expect(await on.catalog.queue.claim(want({ now: 19_999 }))).toEqual([]);
    const late = await on.catalog.queue.claim(want({ now: 20_000 }));
    expect(late).toHaveLength(1);
    await on.catalog.queue.extend(jobs, 99_000); // A lost lease moves nothing.
    expect(await on.catalog.queue.claim(want({ now: 80_000 }))).toHaveLength(1);
  });

  it('gives each delivery to one of many who ask at once over two handles', async () => {
    const artifacts = await wait(on.catalog, 60);
    const other = await on.another();
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? other : on.catalog).queue.claim(want({ limit: 5 })),
      ),
    );
    const taken = ids(asked.flat());
    expect(taken).toHaveLength(60);
    expect(taken.sort()).toEqual(artifacts.sort());
  });

  it('tells the backlog, and nothing when nothing waits', async () => {
    expect(await on.catalog.queue.backlog()).toEqual({ deliveries: 0, oldestReceivedAt: null });
    const { sourceId } = await seedSource(on.catalog);
    for (const receivedAt of [300, 200, 400]) {
      await store(on.catalog, claimFor(sourceId, { receivedAt }));
    }
    const [job] = await on.catalog.queue.claim(want({ limit: 1 }));
    expect(await on.catalog.queue.backlog()).toEqual({ deliveries: 3, oldestReceivedAt: 200 });
    await on.catalog.queue.complete([parsed(job!)], 1);
    expect(await on.catalog.queue.backlog()).toEqual({ deliveries: 2, oldestReceivedAt: 200 });
  });
}

function completing(on: Subject): void {
  it('settles a delivery with its counts, refusal and undeclared fields', async () => {
    await wait(on.catalog, 2);
    const jobs = await on.catalog.queue.claim(want());
    const counts = {
      records: 9,
      parsed: 7,
      rejected: 2,
      samples: 5,
      blank: 1,
      supersededWithin: 1,
    };
    const refusal = { record: null, line: null, field: null, code: 'encoding', message: 'Bad.' };
    const { took } = await on.catalog.queue.complete(
      [
        { ...parsed(jobs[0]!), counts, undeclaredFields: ['né', 'b'] },
        { ...parsed(jobs[1]!), status: 'rejected', refusal },
      ],
      1,
    );
    expect([...took].sort()).toEqual(ids(jobs).sort());
    const { byArtifact } = on.catalog.deliveries;
    const good = { status: 'parsed', counts, refusal: null, undeclaredFields: ['né', 'b'] };
    expect(await byArtifact(jobs[0]!.artifactId)).toMatchObject(good);
    const bad = { status: 'rejected', counts: oneSample, refusal, undeclaredFields: [] };
    expect(await byArtifact(jobs[1]!.artifactId)).toMatchObject(bad);
    const late = want({ now: Number.MAX_SAFE_INTEGER - 60_000 });
    expect(await on.catalog.queue.claim(late)).toEqual([]);
  });

  it('leaves out who lost the lease: the second holder decides', async () => {
    await wait(on.catalog, 2);
    const first = await on.catalog.queue.claim(want({ leaseMs: 1 }));
    const second = await on.catalog.queue.claim(want({ now: 20_000, limit: 1 }));
    const taken = second[0]!.artifactId;
    const late = first.map((job) => ({ ...parsed(job), status: 'rejected' as const }));
    // The other one's lease ran out too, but nobody took it.
    const untaken = ids(first).filter((artifact) => artifact !== taken);
    expect((await on.catalog.queue.complete(late, 1)).took).toEqual(untaken);
    expect(await on.catalog.deliveries.byArtifact(taken)).toMatchObject({ status: 'parsing' });
    expect(
      (
        await on.catalog.queue.complete(
          second.map((job) => parsed(job)),
          1,
        )
      ).took,
    ).toEqual([taken]);
    expect(
      (
        await on.catalog.queue.complete(
          second.map((job) => parsed(job)),
          1,
        )
      ).took,
    ).toEqual([]);
    expect(await on.catalog.deliveries.byArtifact(taken)).toMatchObject({ status: 'parsed' });
  });

  it('leaves out what is not there', async () => {
    const nobody = { artifactId: randomUUID(), token: randomUUID() };
    expect((await on.catalog.queue.complete([parsed(nobody)], 1)).took).toEqual([]);
  });
}

function failing(on: Subject): void {
  it('puts a released delivery back until its time, in its old place, and counts it', async () => {
    const artifacts = await wait(on.catalog, 3);
    const jobs = await on.catalog.queue.claim(want());
    await on.catalog.queue.release(jobs.slice(0, 1), 30_000);
    await on.catalog.queue.release(jobs.slice(1, 2), 10_000);
    expect(await on.catalog.deliveries.byArtifact(artifacts[0]!)).toMatchObject({
      status: 'queued',
      counts: null,
    });
    const soon = await on.catalog.queue.claim(want({ now: 29_999, limit: 1 }));
    expect(soon).toMatchObject([{ artifactId: artifacts[1], failures: 1 }]);
    const late = await on.catalog.queue.claim(want({ now: 30_000, limit: 1 }));
    expect(late).toMatchObject([{ artifactId: artifacts[0], failures: 1 }]);
    expect((await on.catalog.queue.complete([parsed(jobs[0]!)], 1)).took).toEqual([]);
  });

  it('never counts releases against the delivery', async () => {
    await wait(on.catalog, 1);
    let jobs: Job[] = [];
    for (let round = 0; round < 10; round++) {
      jobs = await on.catalog.queue.claim(want());
      await on.catalog.queue.release(jobs, 0);
    }
    expect(jobs[0]!.failures).toBe(9);
    const last = await on.catalog.queue.claim(want());
    expect(await on.catalog.queue.crashed(last[0]!, 1)).toBe('queued');
  });

  it('rejects a delivery at its third crash with parser_crashed', async () => {
    const [artifact] = await wait(on.catalog, 1);
    const states = [];
    for (let i = 0; i < limits.parserCrashesMax; i++) {
      const [job] = await on.catalog.queue.claim(want());
      states.push(await on.catalog.queue.crashed(job!, 10_000));
      states.push(await on.catalog.queue.crashed(job!, 10_000)); // The same crash told twice.
    }
    expect(states).toEqual(['queued', 'queued', 'queued', 'queued', 'rejected', 'rejected']);
    expect(await on.catalog.queue.claim(want())).toEqual([]);
    expect(await on.catalog.deliveries.byArtifact(artifact!)).toMatchObject({
      status: 'rejected',
      refusal: { record: null, code: 'parser_crashed' },
      counts: { records: 0, samples: 0 },
    });
  });

  it('refuses a crash of a delivery that is not there', async () => {
    const nobody = { artifactId: randomUUID(), token: randomUUID() };
    const refusal = { code: 'delivery_not_found' };
    await expect(on.catalog.queue.crashed(nobody, 1)).rejects.toMatchObject(refusal);
  });
}

function basis(on: Subject): void {
  const later = { key: 'later', name: 'Later', unit: 'x', labels: [] };
  const keys = (job: Job | undefined) => job?.metrics.map((metric) => metric.key);

  it('is what is declared at the first claim, for every further attempt too', async () => {
    const { companyId, sourceId } = await seedSource(on.catalog);
    await store(on.catalog, claimFor(sourceId));
    const before = { ...later, key: 'before' };
    await on.catalog.directory.declareMetric(companyId, before, 1);
    const [first] = await on.catalog.queue.claim(want({ leaseMs: 1 }));
    expect(keys(first)).toEqual(['visits', 'before']);
    await on.catalog.directory.declareMetric(companyId, later, 2);
    const [second] = await on.catalog.queue.claim(want({ now: 20_000 }));
    expect(keys(second)).toEqual(['visits', 'before']);
    await store(on.catalog, claimFor(sourceId));
    const [next] = await on.catalog.queue.claim(want());
    expect(keys(next)).toEqual(['visits', 'before', 'later']);
  });

  it("never holds another company's metrics", async () => {
    const other = await seedCompany(on.catalog);
    const { sourceId } = await seedSource(on.catalog);
    await on.catalog.directory.declareMetric(other.companyId, later, 2);
    await store(on.catalog, claimFor(sourceId));
    const [job] = await on.catalog.queue.claim(want());
    expect(keys(job)).toEqual(['visits']);
  });
}
