import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import type { DeliveryWay, Field, Metric } from '../../src/domain/nouns.ts';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';

export interface DeclaredSource {
  readonly sourceId: string;
  readonly accessKey: string;
}

/** One push source and one document source, and where what was sent to them is found. */
export interface SentTo {
  /** Of the embedded engine. */
  readonly dataDir: string;
  readonly push: DeclaredSource;
  readonly document: DeclaredSource;
  /** Its catalog, seen from outside the service. */
  readonly catalog: Catalog;
}

/** The same in a data directory of its own, and its ports. */
export interface FaultPlace extends SentTo {
  /** A service on it, not started. Several may follow one another. */
  weir(settings?: Readonly<Record<string, string>>, args?: readonly string[]): RunningWeir;
  /** Ends what still runs, by SIGKILL, and removes the directory. */
  remove(): Promise<void>;
}

const metrics: readonly Metric[] = [
  { key: 'revenue', name: 'Revenue', unit: 'EUR', labels: [] },
  { key: 'visits', name: 'Visits', unit: '1', labels: ['page'] },
];

const pushFields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'revenue', role: 'value', metric: 'revenue' },
];

const documentFields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'page', role: 'label' },
  { name: 'visits', role: 'value', metric: 'visits' },
];

export async function makePlace(): Promise<FaultPlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-faults-'));
  const [api, app, ops] = await freePorts(3);
  const catalog = await openCatalog(sqliteUrl(join(dataDir, 'catalog.db')), { thread: false });
  const { push, document } = await declareSources(catalog);
  const made: RunningWeir[] = [];
  return {
    ...{ dataDir, push, document, catalog },
    weir(settings = {}, args = []) {
      const quick = { WEIR_RATE_PER_MINUTE: '1000000', WEIR_RATE_BURST: '1000000' };
      const place = { dataDir, api: api!, app: app!, ops: ops! };
      const weir = new RunningWeir({ ...place, args, settings: { ...quick, ...settings } });
      made.push(weir);
      return weir;
    },
    async remove() {
      await Promise.all(made.map((one) => one.end('SIGKILL')));
      await catalog.close();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** Declares a company with one source of each kind. */
export async function declareSources(catalog: Catalog): Promise<Pick<SentTo, 'push' | 'document'>> {
  const companyId = randomUUID();
  const now = Date.now();
  await catalog.directory.createCompany({ companyId, name: 'C', timezone: 'Europe/Berlin' }, now);
  for (const metric of metrics) await catalog.directory.declareMetric(companyId, metric, now);
  const push = await declare(catalog, companyId, 'push', pushFields);
  const document = await declare(catalog, companyId, 'document', documentFields);
  return { push, document };
}

async function declare(
  catalog: Catalog,
  companyId: string,
  delivery: DeliveryWay,
  fields: readonly Field[],
): Promise<DeclaredSource> {
  const { directory } = catalog;
  const sourceId = randomUUID();
  const now = Date.now();
  const about = { name: delivery, delivery, format: 'csv', fields, savedBy: 'test' } as const;
  await directory.createSource({ sourceId, companyId, ...about }, now);
  const accessKey = formatKey('live', randomBytes(keyRandomBytes));
  const hash = createHash('sha256').update(accessKey).digest();
  const key = { keyId: randomUUID(), sourceId, hash, scope: 'read_write' as const };
  await directory.createKey({ ...key, sandbox: false, expiresAt: now + 86_400_000 }, now);
  return { sourceId, accessKey };
}

/** The engine's process: the last one that the service's log names. */
export function enginePid(weir: RunningWeir): number {
  const lines = weir.log.split('\n').filter((line) => line.includes('"engine ready"'));
  return (JSON.parse(lines.at(-1)!) as { pid: number }).pid;
}
