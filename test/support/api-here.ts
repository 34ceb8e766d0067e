import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import type { DeliveryWay } from '../../src/domain/nouns.ts';
import { listen } from '../../src/http/listener.ts';
import { ReferenceSite } from '../../src/http/reference-site.ts';
import { memoryRates } from '../../src/rates/memory.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { acceptRoutes, readRoutes } from '../../src/start/api.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';
import { newSecret } from '../../src/start/new-secret.ts';
import { readSettings } from '../../src/start/settings.ts';
import { noTracing } from '../../src/tracing/tracing.ts';
import { dayAndAmount, type KeySpec } from './test-weir.ts';

/** A source of an API in this process, with a key and, for webhooks, a secret. */
export interface HereSource {
  readonly sourceId: string;
  readonly key: string;
  readonly keyId: string;
  readonly secret: string;
}

/**
 * The API as the service puts it together, in this process: its clock is a test's, its sample
 * store answers what a test says, and what it noted of uses can be seen.
 */
export interface ApiHere {
  readonly url: string;
  readonly port: number;
  readonly catalog: Catalog;
  readonly log: string[];
  /** Ids of keys and secrets, in order of use. */
  readonly uses: string[];
  /** Milliseconds since 1970, as the API sees it. */
  now: number;
  /** What a window read answers. */
  window: SampleStore['window'];
  source(delivery?: DeliveryWay, spec?: KeySpec): Promise<HereSource>;
  key(sourceId: string, spec?: KeySpec): Promise<{ key: string; keyId: string }>;
  stop(): Promise<void>;
}

const noSamples: SampleStore['window'] = async () => ({
  json: Buffer.from('[]'),
  count: 0,
  truncated: false,
});

/** Starts one on a fresh data directory; `settings` as in the environment. */
export async function startApiHere(settings: Record<string, string> = {}): Promise<ApiHere> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-here-'));
  const [port] = await freePorts(1);
  const given = { WEIR_DATA_DIR: dataDir, WEIR_LISTEN: `127.0.0.1:${port}`, ...settings };
  const read = readSettings(given);
  const catalog = await openCatalog(sqliteUrl(join(dataDir, 'catalog.db')), { thread: false });
  const artifacts = openArtifacts(read.artifactsUrl);
  await artifacts.prepare();
  const clock = () => here.now;
  const log: string[] = [];
  const uses: string[] = [];
  const samples: SampleStore = {
    prepare: async () => {},
    insert: async () => {},
    settle: async () => {},
    forget: async () => {},
    async *generation() {},
    window: (query) => here.window(query),
    rejections: async () => [],
    ping: async () => {},
    close: async () => {},
  };
  const site = new ReferenceSite((settings.WEIR_DOCS_ORIGIN ?? '').split(',').filter(Boolean));
  const routeLog = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  const parts: Parameters<typeof acceptRoutes>[0] & Parameters<typeof readRoutes>[0] = {
    ...{ settings: read, catalog, artifacts, samples, site, clock, log: routeLog },
    rates: memoryRates(clock),
    door: { readPush: () => Promise.reject(new Error('no large pushes')), close: async () => {} },
    uses: {
      noteKey: (id) => void uses.push(id),
      noteSecret: (id) => void uses.push(id),
      close: async () => {},
    },
    onStored: () => {},
    requireAccepting: () => {},
    metrics: { watch: () => {} },
    tracing: noTracing,
  };
  const routes = [...acceptRoutes(parts), ...readRoutes(parts)];
  const listener = await listen({ host: '127.0.0.1', port: port! }, routes, routeLog, site);
  const companyId = randomUUID();
  const company = { companyId, name: 'here', timezone: 'Europe/Berlin' };
  await catalog.directory.createCompany(company, Date.now());
  const metric = { key: 'amount', name: 'amount', unit: 'one', labels: [] };
  await catalog.directory.declareMetric(companyId, metric, Date.now());

  const here: ApiHere = {
    ...{ url: `http://127.0.0.1:${port}`, port: port!, catalog, log, uses },
    ...{ now: Date.now(), window: noSamples },
    async source(delivery = 'push', spec = {}) {
      const { text, secret } = newSecret(read);
      const source = { sourceId: randomUUID(), companyId, name: 'here', delivery, secret };
      const shape = { format: 'csv', fields: dayAndAmount, savedBy: 'test' } as const;
      await catalog.directory.createSource({ ...source, ...shape }, Date.now());
      const made = await here.key(source.sourceId, spec);
      return { sourceId: source.sourceId, secret: text, ...made };
    },
    async key(sourceId, { scope = 'read_write', sandbox = false, expiresMs = 86_400_000 } = {}) {
      const key = formatKey(sandbox ? 'test' : 'live', randomBytes(keyRandomBytes));
      const hash = createHash('sha256').update(key).digest();
      const keyId = randomUUID();
      const expiresAt = here.now + expiresMs;
      await catalog.directory.createKey(
        { keyId, sourceId, hash, scope, sandbox, expiresAt },
        Date.now(),
      );
      return { key, keyId };
    },
    async stop() {
      await listener.close(0);
      await artifacts.close();
      await catalog.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return here;
}
