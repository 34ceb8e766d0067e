import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { v7 as uuid } from 'uuid';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { textToDay } from '../../src/domain/periods.ts';
import { dayInZone } from '../../src/domain/timezone.ts';
import { readWindow } from '../../src/domain/windows.ts';
import { ensureDemo } from '../../src/start/demo/deployment.ts';
import { fixtures } from '../../src/start/demo/fixtures.ts';

const november = Date.parse('2026-11-20T12:00:00Z');

describe("the demo deployment's fixtures", () => {
  test('lie inside a read without parameters, whatever the day they were made on', () => {
    // The last day of each month and the first of the next.
    const days = Array.from({ length: 96 }, (_, i) => Date.UTC(2026, 1 + (i >> 1), i & 1));
    for (const at of days) {
      const window = readWindow({}, dayInZone(at, 'UTC'));
      if ('message' in window) throw new Error(window.message);
      const months = new Set<string>();
      for (const { body } of fixtures(at).deliveries) {
        for (const line of body.toString().trim().split('\n').slice(1)) {
          months.add(line.slice(0, 7));
        }
      }
      const periods = [...months].map((month) => textToDay(`${month}-01`)!);
      expect(months.size).toBe(24);
      expect(Math.min(...periods)).toBeGreaterThanOrEqual(window.fromDay);
      expect(Math.max(...periods)).toBeLessThan(window.toDay);
    }
  });

  test('keep the month of the year, and the values of the file', () => {
    const { title, deliveries } = fixtures(november);
    expect(title).toContain('values of 2007-12 to 2009-11, dates moved by 17 years');
    const [employment, unemployment] = deliveries.map(({ body }) => body.toString().split('\n'));
    expect(employment).toContain('2024-12,nonfarm,,138411');
    expect(employment).toContain('2026-11,wholesale_trade,,5489.4');
    expect(unemployment).toContain('2026-11,unemployment_rate,Government,3.4');
  });
});

/** One of several services that share a catalog and an artifact store. */
interface Service {
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
}

describe('a demo deployment is made once', () => {
  let dir: string;
  let services: Service[];

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-demo-made-'));
    services = [];
    for (let i = 0; i < 3; i++) services.push(await open());
  });

  afterEach(async () => {
    for (const { catalog, artifacts } of services) {
      await artifacts.close();
      await catalog.close();
    }
    await rm(dir, { recursive: true, force: true });
  });

  async function open(): Promise<Service> {
    const catalog = await openCatalog(sqliteUrl(join(dir, 'catalog.db')), { thread: true });
    const artifacts = openArtifacts(pathToFileURL(join(dir, 'artifacts')).href);
    await artifacts.prepare();
    return { catalog, artifacts };
  }

  function start(service: Service, now: number): Promise<void> {
    const log = { info() {}, warn() {} };
    const accepting = { newArtifactId: () => uuid(), onStored() {}, requireAccepting() {} };
    return ensureDemo({ ...service, ...accepting, clock: () => now, log });
  }

  /** Parses without reading: the fixtures' counts are judged elsewhere. */
  async function parseUntil(done: Promise<unknown>): Promise<void> {
    let running = true;
    const end = () => {
      running = false;
    };
    done.then(end, end);
    const { queue } = services[0]!.catalog;
    const none = { records: 0, parsed: 0, rejected: 0, samples: 0, blank: 0, supersededWithin: 0 };
    while (running) {
      const now = Date.now();
      const jobs = await queue.claim({ limit: 10, bytesMax: 1e9, leaseMs: 10_000, now });
      const outcomes = jobs.map(({ artifactId, token }) => ({
        ...{ artifactId, token, status: 'parsed' as const, counts: none, refusal: null },
        ...{ undeclaredFields: [], parserVersion: 1, generation: 0, turn: null },
      }));
      if (outcomes.length > 0) await queue.complete(outcomes, now);
      await sleep(10);
    }
    await done;
  }

  async function made() {
    const { catalog, artifacts } = services[0]!;
    const objects: string[] = [];
    for await (const { object } of artifacts.list()) objects.push(object);
    const [first] = await artifacts.contents(objects[0]!);
    const { sourceId } = first!.meta;
    const deliveries = await catalog.deliveries.list(sourceId, { limit: 100 });
    const source = (await catalog.directory.source(sourceId))!;
    const metrics = await catalog.directory.metrics(source.companyId);
    const keys = await catalog.directory.keys(sourceId);
    return { objects: objects.sort(), deliveries, source, metrics, keys };
  }

  test('by services that start at once', async () => {
    await parseUntil(Promise.all(services.map((one) => start(one, november))));
    const { objects, deliveries, source, metrics, keys } = await made();
    expect(objects.length).toBe(2);
    expect(deliveries.map((one) => one.place.object).sort()).toEqual(objects);
    expect(metrics.length).toBe(25);
    expect(source.shapeVersion).toBe(1);
    expect(keys).toMatchObject([{ scope: 'read', sandbox: false, demo: true, revokedAt: null }]);
  });

  test('for good: a start years later finds it, dates and all', async () => {
    await parseUntil(start(services[0]!, november));
    const before = await made();
    const later = november + 3 * 365 * 86_400_000;
    await start(services[1]!, later);
    expect(await made()).toEqual(before);
    expect(before.keys[0]!.expiresAt).toBeGreaterThan(later);
  });

  test('also when an earlier start was killed between two steps', async () => {
    const [first, second] = services;
    const { artifacts } = first!;
    let uploads = 0;
    const dying: ArtifactStore = Object.assign(Object.create(artifacts) as ArtifactStore, {
      begin(...args: Parameters<ArtifactStore['begin']>) {
        uploads += 1;
        if (uploads === 2) throw new Error('killed');
        return artifacts.begin(...args);
      },
    });
    await expect(start({ ...first!, artifacts: dying }, november)).rejects.toThrow('killed');
    await parseUntil(start(second!, november + 40 * 86_400_000));
    const { deliveries, source } = await made();
    expect(source.name).toContain('2009-11');
    // The month of the first start counts for what the second one stores, too.
    const expected = fixtures(november).deliveries.map(({ body }) =>
      createHash('sha256').update(body).digest('hex'),
    );
    expect(deliveries.map((one) => one.sha256).sort()).toEqual(expected.sort());
  });
});
