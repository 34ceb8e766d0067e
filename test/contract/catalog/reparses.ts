import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Catalog, Job } from '../../../src/catalog/catalog.ts';
import { limits } from '../../../src/domain/limits.ts';
import type { Field } from '../../../src/domain/nouns.ts';
import { claimFor, oneSample, seedSource, store, wideFields } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';
import { drain, parsed, want } from './queue.ts';

const now = 50_000;

/** Parsing again and withdrawal (DECISIONS 1, 3), as far as the catalog has to do with them. */
export function reparsesContract(on: Subject): void {
  beforeEach(() => drain(on.catalog));
  describe('begin', () => beginning(on));
  describe('turns', () => turns(on));
  describe('completing', () => completing(on));
  describe('withdrawal', () => withdrawing(on));
}

/** A source with deliveries that are parsed, in accepted order. */
async function settled(catalog: Catalog, many: number) {
  const seeded = await seedSource(catalog);
  const artifacts: string[] = [];
  for (let n = 0; n < many; n++) {
    const claim = claimFor(seeded.sourceId);
    await store(catalog, claim);
    artifacts.push(claim.artifactId);
  }
  await drain(catalog);
  return { ...seeded, artifacts };
}

async function claimed(catalog: Catalog): Promise<Job> {
  const [job] = await catalog.queue.claim(want({ now, limit: 4 }));
  return job!;
}

async function inTurn(catalog: Catalog, job: Job) {
  const { sourceId } = job.delivery;
  const turn = await catalog.reparses.takeTurn({ sourceId, leaseMs: 1_000, now });
  const answer = await catalog.queue.complete([parsed(job, turn!.token)], now);
  await catalog.reparses.endTurn(turn!.token);
  return answer;
}

function beginning(on: Subject): void {
  it('puts a delivery back to the queue under another version; what stands stays', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 1);
    await on.catalog.directory.saveSource(sourceId, { savedBy: 'b' }, 5);
    const before = await on.catalog.deliveries.byArtifact(artifacts[0]!);
    const want = { artifactIds: artifacts, shapeVersion: 2 };
    const [begun] = await on.catalog.reparses.begin(want, now);
    expect(await on.catalog.deliveries.byArtifact(artifacts[0]!)).toEqual({
      ...before,
      status: 'queued',
    });
    const job = await claimed(on.catalog);
    expect(job).toMatchObject({
      ...{ artifactId: artifacts[0], generation: begun!.generation, refusal: null },
      shape: { version: 2 },
      delivery: { generation: 0, shapeVersion: 1, counts: oneSample },
    });
    expect(await inTurn(on.catalog, job)).toMatchObject({ took: artifacts });
    expect(await on.catalog.deliveries.byArtifact(artifacts[0]!)).toEqual({
      ...before,
      ...{ generation: begun!.generation, shapeVersion: 2 },
    });
  });

  it('gives a higher generation each time, above the seconds since 1970', async () => {
    const { artifacts } = await settled(on.catalog, 1);
    const generations: number[] = [];
    for (const at of [now, now, 90_000_000, now]) {
      const [begun] = await on.catalog.reparses.begin({ artifactIds: artifacts }, at);
      generations.push(begun!.generation);
      await drain(on.catalog);
    }
    expect(generations.toSorted((a, b) => a - b)).toEqual(generations);
    expect(new Set(generations).size).toBe(4);
    expect(generations[2]).toBeGreaterThanOrEqual(90_000);
  });

  it('leaves out what waits or is being parsed', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 2);
    const waiting = claimFor(sourceId);
    await store(on.catalog, waiting);
    await on.catalog.reparses.begin({ artifactIds: artifacts.slice(0, 1) }, now);
    await on.catalog.queue.claim(want({ now, limit: 1 }));
    const all = { artifactIds: [...artifacts, waiting.artifactId] };
    const begun = await on.catalog.reparses.begin(all, now);
    expect(begun.map((one) => one.artifactId)).toEqual([artifacts[1]]);
  });

  it('refuses what is not there, and begins none of the others then', async () => {
    const { artifacts } = await settled(on.catalog, 1);
    const begin = (artifactIds: string[], shapeVersion?: number) =>
      on.catalog.reparses.begin(
        shapeVersion === undefined ? { artifactIds } : { artifactIds, shapeVersion },
        now,
      );
    await expect(begin([...artifacts, randomUUID()])).rejects.toMatchObject({
      code: 'delivery_not_found',
    });
    await expect(begin(artifacts, 2)).rejects.toMatchObject({ code: 'shape_version_not_found' });
    expect(await on.catalog.deliveries.byArtifact(artifacts[0]!)).toMatchObject({
      status: 'parsed',
    });
    expect(await begin([])).toEqual([]);
  });

  it('takes the metrics declared by then as its basis, and keeps them', async () => {
    const { companyId, artifacts } = await settled(on.catalog, 1);
    const metric = (key: string) => ({ key, name: key, unit: 'x', labels: [] });
    await on.catalog.directory.declareMetric(companyId, metric('more'), now);
    await on.catalog.reparses.begin({ artifactIds: artifacts }, now);
    const first = await claimed(on.catalog);
    await on.catalog.directory.declareMetric(companyId, metric('late'), now);
    await on.catalog.queue.release([first], now);
    const second = await claimed(on.catalog);
    for (const job of [first, second]) {
      expect(job.metrics.map(({ key }) => key)).toEqual(['visits', 'more']);
    }
  });

  it('never makes new deliveries wait for those that are parsed again', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 40);
    await on.catalog.reparses.begin({ artifactIds: artifacts }, now);
    for (let n = 0; n < 40; n++) await store(on.catalog, claimFor(sourceId));
    const jobs = await on.catalog.queue.claim(want({ now, limit: 20 }));
    expect(jobs.map((job) => job.generation > 0)).toEqual([
      ...Array.from({ length: 5 }, () => true),
      ...Array.from({ length: 15 }, () => false),
    ]);
  });

  it('tells which are rejected and how many wait', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 3);
    await on.catalog.reparses.begin({ artifactIds: artifacts.slice(1) }, now);
    const { generation } = await claimed(on.catalog);
    const { reparsing, settled: settledOnes } = on.catalog.deliveries;
    const all = { limit: 9, after: 0 };
    expect(await reparsing(sourceId, generation)).toBe(2);
    expect(await reparsing(sourceId, generation - 1)).toBe(0);
    await drain(on.catalog);
    expect(await reparsing(sourceId, generation)).toBe(0);
    expect(await settledOnes(sourceId, { status: 'rejected' }, all)).toEqual([]);
    expect((await settledOnes(sourceId, {}, all)).map((one) => one.artifactId)).toEqual(artifacts);
  });
}

function turns(on: Subject): void {
  const take = (catalog: Catalog, sourceId: string | null, at = now) =>
    catalog.reparses.takeTurn({ sourceId, leaseMs: 1_000, now: at });

  it('of one source never overlap, over two handles too; each has a higher number', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const other = await on.another();
    const first = await take(on.catalog, sourceId);
    expect(await take(other, sourceId)).toBe(null);
    await on.catalog.reparses.endTurn(first!.token);
    const second = await take(other, sourceId);
    expect(second!.number).toBeGreaterThan(first!.number);
    await other.reparses.endTurn(second!.token);
  });

  it('of two sources stand side by side; all sources at once exclude every one', async () => {
    const [one, two] = [await seedSource(on.catalog), await seedSource(on.catalog)];
    const both = [await take(on.catalog, one.sourceId), await take(on.catalog, two.sourceId)];
    expect(both).not.toContain(null);
    expect(await take(on.catalog, null)).toBe(null);
    for (const turn of both) await on.catalog.reparses.endTurn(turn!.token);
    const all = await take(on.catalog, null);
    expect(await take(on.catalog, one.sourceId)).toBe(null);
    expect(await take(on.catalog, null)).toBe(null);
    await on.catalog.reparses.endTurn(all!.token);
    expect(await take(on.catalog, one.sourceId, now)).not.toBe(null);
  });

  it('that ran out is taken over, unless it was put further out', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const first = await take(on.catalog, sourceId);
    await on.catalog.reparses.extendTurn(first!.token, now + 3_000);
    expect(await take(on.catalog, sourceId, now + 2_999)).toBe(null);
    const second = await take(on.catalog, sourceId, now + 3_000);
    expect(second).not.toBe(null);
    await on.catalog.reparses.extendTurn(first!.token, now + 99_000);
    expect(await take(on.catalog, sourceId, now + 4_000)).not.toBe(null);
  });

  it('knows up to which delivery of the source any was parsed again', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 2);
    const upTo = async () => {
      const turn = await take(on.catalog, sourceId);
      await on.catalog.reparses.endTurn(turn!.token);
      return turn!.reparsedUpTo;
    };
    expect(await upTo()).toBe(0);
    const sequences: number[] = [];
    for (const artifactId of artifacts.toReversed()) {
      sequences.push((await on.catalog.deliveries.byArtifact(artifactId))!.sequence);
      await on.catalog.reparses.begin({ artifactIds: [artifactId] }, now);
      expect(await upTo()).toBe(sequences[0]);
    }
  });
}

function completing(on: Subject): void {
  it('a next generation takes a turn that is still held', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 1);
    await on.catalog.reparses.begin({ artifactIds: artifacts }, now);
    const job = await claimed(on.catalog);
    const unsettled = { took: [], unsettled: artifacts, outdated: [] };
    expect(await on.catalog.queue.complete([parsed(job)], now)).toEqual(unsettled);
    const lost = await on.catalog.reparses.takeTurn({ sourceId, leaseMs: 1, now });
    const other = await on.catalog.reparses.takeTurn({ sourceId, leaseMs: 1, now: now + 1 });
    const late = parsed(job, lost!.token);
    expect(await on.catalog.queue.complete([late], now)).toEqual(unsettled);
    await on.catalog.reparses.endTurn(other!.token);
    expect(await inTurn(on.catalog, job)).toEqual({ took: artifacts, unsettled: [], outdated: [] });
  });

  it('a first parse before a delivery parsed again takes one too, none after', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claims = Array.from({ length: 3 }, () => claimFor(sourceId));
    for (const claim of claims) await store(on.catalog, claim);
    const [first, second, third] = await on.catalog.queue.claim(want({ now }));
    await on.catalog.queue.complete([parsed(second!)], now);
    await on.catalog.reparses.begin({ artifactIds: [second!.artifactId] }, now);
    const answer = await on.catalog.queue.complete([parsed(first!), parsed(third!)], now);
    expect(answer).toMatchObject({
      took: [third!.artifactId],
      unsettled: [first!.artifactId],
    });
    expect((await inTurn(on.catalog, first!)).took).toEqual([first!.artifactId]);
  });

  it('names the late first parse of a delivery that has a later generation', async () => {
    const { sourceId } = await seedSource(on.catalog);
    await store(on.catalog, claimFor(sourceId));
    const [late] = await on.catalog.queue.claim(want({ now: 1, leaseMs: 1 }));
    await drain(on.catalog);
    expect(await on.catalog.queue.complete([parsed(late!)], now)).toMatchObject({ outdated: [] });
    const { artifactId } = late!;
    const [begun] = await on.catalog.reparses.begin({ artifactIds: [artifactId] }, now);
    await drain(on.catalog);
    const outdated = [begun];
    expect(await on.catalog.queue.complete([parsed(late!)], now)).toMatchObject({ outdated });
    expect(await on.catalog.queue.release([late!], now)).toEqual(outdated);
  });

  it('the third crash of a next generation makes the refusal its generation', async () => {
    const { artifacts } = await settled(on.catalog, 1);
    await on.catalog.reparses.begin({ artifactIds: artifacts }, now);
    for (let crash = 0; crash < limits.parserCrashesMax; crash++) {
      await on.catalog.queue.crashed(await claimed(on.catalog), now);
    }
    const job = await claimed(on.catalog);
    expect(job.refusal).toMatchObject({ record: null, code: 'parser_crashed' });
    const { delivery } = job;
    expect(delivery).toMatchObject({ generation: 0, counts: oneSample });
  });
}

function withdrawing(on: Subject): void {
  const personal: readonly Field[] = [
    { name: 'day', role: 'period' },
    { name: 'other', role: 'value', metric: 'visits' },
    { name: 'seen', personal: true },
  ];
  const save = (sourceId: string, fields: readonly Field[]) =>
    on.catalog.directory.saveSource(sourceId, { fields, savedBy: 'b' }, now);

  it('has every delivery of an exposed version wait for its refusal', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 2);
    const waiting = claimFor(sourceId);
    await store(on.catalog, waiting);
    const saved = await save(sourceId, personal);
    expect(saved.withdrawn).toMatchObject({ deliveries: 3 });
    const jobs = await on.catalog.queue.claim(want({ now, limit: 12 }));
    expect(jobs.map((job) => job.artifactId)).toEqual([...artifacts, waiting.artifactId]);
    for (const job of jobs) {
      const { generation } = saved.withdrawn!;
      const refusal = { record: null, field: 'seen', code: 'personal_field' };
      expect(job).toMatchObject({ generation, refusal, shape: { version: 1 } });
    }
    // Later ones under the old version are refused when they are parsed.
    await store(on.catalog, claimFor(sourceId));
    const [late] = await on.catalog.queue.claim(want({ now, limit: 12 }));
    expect(late).toMatchObject({ generation: 0, refusal: null, personalNow: ['seen'] });
  });

  it('withdraws nothing twice, and nothing of versions without a role for the field', async () => {
    const { sourceId } = await settled(on.catalog, 2);
    expect((await save(sourceId, wideFields)).withdrawn).toBe(null);
    const saved = await save(sourceId, personal);
    expect(saved.withdrawn).toMatchObject({ deliveries: 2 });
    expect((await save(sourceId, personal)).withdrawn).toBe(null);
    const jobs = await on.catalog.queue.claim(want({ now, limit: 12 }));
    for (const job of jobs) {
      const { refusal } = job;
      const turn = await on.catalog.reparses.takeTurn({ sourceId, leaseMs: 1_000, now });
      const outcome = { ...parsed(job, turn!.token), status: 'rejected' as const, refusal };
      expect((await on.catalog.queue.complete([outcome], now)).took).toEqual([job.artifactId]);
      await on.catalog.reparses.endTurn(turn!.token);
    }
    expect((await save(sourceId, personal)).withdrawn).toBe(null);
    await store(on.catalog, claimFor(sourceId, { shapeVersion: 3 }));
    await drain(on.catalog);
    expect((await save(sourceId, personal)).withdrawn).toBe(null);
    const bad = { status: 'rejected' } as const;
    const rejected = await on.catalog.deliveries.settled(sourceId, bad, { limit: 1, after: 0 });
    expect(rejected).toMatchObject([{ artifactId: jobs[0]!.artifactId }]);
    const after = rejected[0]!.sequence;
    const next = await on.catalog.deliveries.settled(sourceId, bad, { limit: 9, after });
    expect(next.map((one) => one.artifactId)).toEqual([jobs[1]!.artifactId]);
  });

  it('comes after a parse that is under way: what that one inserted is settled away', async () => {
    const { sourceId } = await seedSource(on.catalog);
    await store(on.catalog, claimFor(sourceId));
    const first = await claimed(on.catalog);
    const saved = await save(sourceId, personal);
    expect(saved.withdrawn).toMatchObject({ deliveries: 1 });
    expect(await on.catalog.queue.claim(want({ now, limit: 4 }))).toEqual([]);
    const answer = await on.catalog.queue.complete([parsed(first)], now);
    expect(answer).toEqual({ took: [], unsettled: [], outdated: [] });
    const next = await claimed(on.catalog);
    expect(next).toMatchObject({ generation: saved.withdrawn!.generation });
    expect(next.refusal).toMatchObject({ code: 'personal_field' });
  });

  it('counts a save again once a delivery was parsed under a version that fits', async () => {
    const { sourceId, artifacts } = await settled(on.catalog, 1);
    await save(sourceId, personal);
    await drain(on.catalog);
    await on.catalog.reparses.begin({ artifactIds: artifacts, shapeVersion: 2 }, now);
    const job = await claimed(on.catalog);
    expect(job).toMatchObject({ refusal: null, shape: { version: 2 }, personalNow: ['seen'] });
    await inTurn(on.catalog, job);
    expect(await on.catalog.deliveries.byArtifact(artifacts[0]!)).toMatchObject({
      ...{ status: 'parsed', shapeVersion: 2, refusal: null },
    });
  });
}
