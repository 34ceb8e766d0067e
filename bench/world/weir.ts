import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import { limits } from '../../src/domain/limits.ts';
import type { DeliveryWay, Field, Metric } from '../../src/domain/nouns.ts';
import { ask } from '../../test/support/ask.ts';
import { TestWeir } from '../../test/support/test-weir.ts';
import { childrenOf, untilQuiet } from './processes.ts';
import type { World } from './world.ts';

/** The metrics and fields of all documents and pushes of the bench. */
export const metrics: readonly Metric[] = [
  { key: 'visits', name: 'Visits', unit: 'visits', labels: ['device', 'place'] },
  { key: 'revenue', name: 'Revenue', unit: 'EUR', labels: ['device', 'place'] },
];

export const fields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'device', role: 'label' },
  { name: 'place', role: 'label' },
  { name: 'visits', role: 'value', metric: 'visits' },
  { name: 'revenue', role: 'value', metric: 'revenue' },
  { name: 'note', required: false },
];

/** A rate that no bench reaches: weir's own setting for load tests (DECISIONS 7). */
export const unlimited = {
  WEIR_RATE_PER_MINUTE: '1000000000',
  WEIR_RATE_BURST: '1000000000',
  WEIR_LOG_LEVEL: 'warn',
};

/** A source of a weir, and a key that reads and writes it. */
export interface BenchSource {
  readonly sourceId: string;
  readonly key: string;
}

/** Writes a company with the metrics of the bench to a catalog. @returns its id */
export async function makeCompany({ directory }: Catalog): Promise<string> {
  const companyId = randomUUID();
  await directory.createCompany({ companyId, name: 'bench', timezone: 'UTC' }, Date.now());
  for (const metric of metrics) await directory.declareMetric(companyId, metric, Date.now());
  return companyId;
}

/** Writes a source of a company to a catalog, and a key of it. */
export async function makeSource(
  { directory }: Catalog,
  companyId: string,
  delivery: DeliveryWay,
): Promise<BenchSource> {
  const sourceId = randomUUID();
  const named = { sourceId, companyId, name: 'bench', savedBy: 'bench' };
  const made = { ...named, delivery, format: 'csv' as const, fields };
  await directory.createSource(made, Date.now());
  const key = formatKey('live', randomBytes(keyRandomBytes));
  const hash = createHash('sha256').update(key).digest();
  const about = { keyId: uuid(), sourceId, hash, scope: 'read_write' as const, sandbox: false };
  await directory.createKey({ ...about, expiresAt: Date.now() + 86_400_000 }, Date.now());
  return { sourceId, key };
}

/** A weir in a process of its own, and what a bench asks of it. */
export class BenchWeir {
  readonly test: TestWeir;
  readonly #companyId: string;
  /** The engine that was stopped. */
  #held: number | null = null;
  readonly #letGo = () => {
    if (this.#held !== null) process.kill(this.#held, 'SIGCONT');
    this.#held = null;
  };

  private constructor(test: TestWeir, companyId: string) {
    this.test = test;
    this.#companyId = companyId;
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<BenchWeir> {
    const test = await TestWeir.start({ ...unlimited, ...settings });
    const companyId = await makeCompany(test.catalog);
    return new BenchWeir(test, companyId);
  }

  get port(): number {
    return this.test.port;
  }

  get pid(): number {
    return this.test.running.pid!;
  }

  get dataDir(): string {
    return this.test.running.place.dataDir;
  }

  source(delivery: DeliveryWay): Promise<BenchSource> {
    return makeSource(this.test.catalog, this.#companyId, delivery);
  }

  /**
   * Stops ClickHouse in its tracks, so that nothing is parsed and inserted beside what is timed:
   * the backlog then grows in the catalog, and accepting goes on. What the parse loop takes on
   * before it waits is given to it first where `settle` says so, so that it has come to rest.
   */
  async holdParsing(settle: boolean): Promise<void> {
    if (this.#held !== null) return;
    this.#held = enginePid(this.pid);
    process.kill(this.#held, 'SIGSTOP');
    // A process that is stopped does not see that the service has gone.
    process.once('exit', this.#letGo);
    if (!settle) return;
    const { key } = await this.source('document');
    for (let sent = 0; sent < limits.parseHeldBytesMax; sent += limits.deliveryBytesMax) {
      const body = fillerDocument(sent);
      const headers = {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/octet-stream',
        'Idempotency-Key': `filler-${sent}`,
      };
      const url = `${this.test.url}/v1/ingest`;
      const answer = await ask(url, { method: 'POST', headers, body });
      if (answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`);
    }
    await untilQuiet(this.pid);
  }

  /** Ends it at once; a bench leaves more behind than an orderly stop would parse in seconds. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    process.off('exit', this.#letGo);
    this.#letGo();
    await this.test.running.end(signal);
    await this.test.stop();
  }
}

/** A weir that all cases of the group share. */
export function sharedWeir(
  world: World,
  name: string,
  settings: () => Promise<Readonly<Record<string, string>>> = async () => ({}),
): Promise<BenchWeir> {
  return world.once(`weir ${name}`, async () => {
    const weir = await BenchWeir.start(await settings());
    return { value: weir, stop: () => weir.stop() };
  });
}

/** As large as a delivery may be, with few records: quickly parsed, and its rows are small. */
function fillerDocument(n: number): Buffer {
  const header = 'day,device,place,visits,revenue,note\n';
  const record = `2026-01-01,d,p,${n},0,${'x'.repeat(1_000_000)}\n`;
  return Buffer.from(header + record.repeat(8)).subarray(0, limits.deliveryBytesMax);
}

/** The embedded engine is the one child of the service. */
function enginePid(service: number): number {
  const [engine] = childrenOf(service);
  if (engine === undefined) throw new Error('the service has no engine');
  return engine;
}
