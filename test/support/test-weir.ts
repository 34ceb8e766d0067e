import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Catalog, NewSecret, SourceSave } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import type { DeliveryWay, DocumentFormat, Field, Scope } from '../../src/domain/nouns.ts';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';
import { newSecret } from '../../src/start/new-secret.ts';
import { accountingDifference } from './metrics-of.ts';
import { Sender } from './sender.ts';

/** The metrics that every test company declares, with their labels. */
const metrics = { amount: [], cost: [], visits: ['device', 'place'] } as const;

export interface SourceSpec {
  readonly delivery?: DeliveryWay;
  readonly format?: DocumentFormat;
  readonly fields?: readonly Field[];
  readonly timezone?: string;
}

export interface KeySpec {
  /** Null: a key made before scopes existed. */
  readonly scope?: Scope | null;
  readonly sandbox?: boolean;
  /** From now; may be negative. */
  readonly expiresMs?: number;
}

/** A day and an amount: the smallest useful shape. */
export const dayAndAmount: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'amount', role: 'value', metric: 'amount' },
];

/** Rates have tests of their own; no other test is to wait for them. */
export const manyRequests = { WEIR_RATE_PER_MINUTE: '1000000', WEIR_RATE_BURST: '1000000' };

/**
 * A weir as users run it, in a process of its own, with a fresh data directory. Companies, sources
 * and keys are written to its catalog from here: the command line has tests of its own.
 */
export class TestWeir {
  readonly running: RunningWeir;
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
  readonly #companies = new Map<string, Promise<string>>();

  private constructor(running: RunningWeir, catalog: Catalog, artifacts: ArtifactStore) {
    this.running = running;
    this.catalog = catalog;
    this.artifacts = artifacts;
  }

  /** @param settings further ones, such as another artifact store */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<TestWeir> {
    const dataDir = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const [api, app, ops] = await freePorts(3);
    const place = { dataDir, api: api!, app: app!, ops: ops! };
    const running = new RunningWeir({ ...place, settings: { ...manyRequests, ...settings } });
    await running.start();
    // A test run that ends early takes it along.
    process.once('exit', () => running.pid && process.kill(running.pid, 'SIGKILL'));
    const url = settings.WEIR_CATALOG_URL ?? sqliteUrl(join(dataDir, 'catalog.db'));
    const own = pathToFileURL(join(dataDir, 'artifacts')).href;
    return TestWeir.over(running, url, settings.WEIR_ARTIFACTS_URL ?? own);
  }

  /** Of a service that runs already; its catalog and its store are opened beside it. */
  static async over(running: RunningWeir, catalogUrl: string, artifactsUrl: string) {
    const catalog = await openCatalog(catalogUrl, { thread: false });
    return new TestWeir(running, catalog, openArtifacts(artifactsUrl));
  }

  /** Ends the service, whose accounting must have been right all the time (DECISIONS 2). */
  async stop(): Promise<void> {
    const wrongBy = await accountingDifference(this.running);
    await this.running.end();
    await this.artifacts.close();
    await this.catalog.close();
    await rm(this.running.place.dataDir, { recursive: true, force: true });
    if (wrongBy !== 0) throw new Error(`the accounting was wrong by ${wrongBy}`);
  }

  get url(): string {
    return this.running.url;
  }

  get port(): number {
    return this.running.place.api;
  }

  /** Declares a source and a key of it for reading and writing. */
  async source(spec: SourceSpec = {}): Promise<TestSource> {
    const { delivery = 'push', format = 'csv', fields = dayAndAmount } = spec;
    const companyId = await this.#company(spec.timezone ?? 'Europe/Berlin');
    const sourceId = randomUUID();
    const { text, secret } = this.newSecret();
    await this.catalog.directory.createSource(
      { sourceId, companyId, name: 'test', delivery, format, fields, savedBy: 'test', secret },
      Date.now(),
    );
    const source = new TestSource(this, sourceId);
    source.secret = text;
    source.sender = await source.withKey();
    return source;
  }

  /** A signing secret, sealed with this weir's key. */
  newSecret(): { text: string; secret: NewSecret } {
    return newSecret({
      ...this.running.place,
      WEIR_SECRET_KEY: this.running.place.settings?.WEIR_SECRET_KEY,
    });
  }

  /** Everything the artifact store holds, half-written uploads included where they can be seen. */
  async storedObjects(): Promise<string[]> {
    const found: string[] = [];
    for await (const { object } of this.artifacts.list()) found.push(object);
    if (this.artifacts.kind === 'files') {
      const tmp = join(this.running.place.dataDir, 'artifacts', 'tmp');
      const names = (await readdir(tmp)).filter((name) => !name.startsWith('mark-'));
      found.push(...names.map((name) => `tmp/${name}`));
    }
    return found.sort();
  }

  #company(timezone: string): Promise<string> {
    const known = this.#companies.get(timezone);
    if (known) return known;
    const made = this.#newCompany(timezone);
    this.#companies.set(timezone, made);
    return made;
  }

  async #newCompany(timezone: string): Promise<string> {
    const companyId = randomUUID();
    const { directory } = this.catalog;
    await directory.createCompany({ companyId, name: timezone, timezone }, Date.now());
    for (const [key, labels] of Object.entries(metrics)) {
      await directory.declareMetric(companyId, { key, name: key, unit: 'one', labels }, Date.now());
    }
    return companyId;
  }
}

/** One source of a weir, and a sender for it. */
export class TestSource {
  readonly weir: TestWeir;
  readonly sourceId: string;
  /** With a key for reading and writing. */
  sender!: Sender;
  /** Of a webhook source: its first signing secret. */
  secret = '';

  constructor(weir: TestWeir, sourceId: string) {
    this.weir = weir;
    this.sourceId = sourceId;
  }

  /** A sender with a new key. */
  async withKey(spec: KeySpec = {}): Promise<Sender & { readonly keyId: string }> {
    const { scope = 'read_write', sandbox = false, expiresMs = 86_400_000 } = spec;
    const text = formatKey(sandbox ? 'test' : 'live', randomBytes(keyRandomBytes));
    const hash = createHash('sha256').update(text).digest();
    const now = Date.now();
    const keyId = randomUUID();
    await this.weir.catalog.directory.createKey(
      { keyId, sourceId: this.sourceId, hash, scope, sandbox, expiresAt: now + expiresMs },
      now,
    );
    return Object.assign(new Sender(this.weir.url, text), { keyId });
  }

  /** Saves the next shape version. */
  async save(change: Omit<SourceSave, 'savedBy'>): Promise<void> {
    await this.weir.catalog.directory.saveSource(
      this.sourceId,
      { ...change, savedBy: 'test' },
      Date.now(),
    );
  }

  /** The artifact ids of its deliveries, newest first. */
  async deliveries(): Promise<string[]> {
    const list = await this.weir.catalog.deliveries.list(this.sourceId, { limit: 10_000 });
    return list.map((delivery) => delivery.artifactId);
  }
}
