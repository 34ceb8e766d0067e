import type { Logger } from 'pino';
import { type ArtifactStore, StoreAway } from '../artifacts/artifacts.ts';
import { openArtifacts } from '../artifacts/open.ts';
import { type Catalog, CatalogAway } from '../catalog/catalog.ts';
import { isPostgres, openCatalog } from '../catalog/open.ts';
import { meteredInserts, meteredLedger, meteredPool, meteredUploads } from '../metrics/metered.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { prometheusMetrics } from '../metrics/prometheus.ts';
import { countedCatalogErrors, countedErrors } from '../metrics/store-errors.ts';
import type { ParseLoop } from '../parse/loop.ts';
import { startDoorPool, startParsePool } from '../parse/pool.ts';
import { InsertBatcher } from '../samples/batcher.ts';
import { SamplesAway } from '../samples/samples.ts';
import { type Dependency, NotReady } from '../serve/ops.ts';
import { systemClock } from '../std/clock.ts';
import { untilDone } from '../std/retry.ts';
import { openTracing } from '../tracing/open.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { MarkKeeper } from '../upkeep/mark-keeper.ts';
import { checkSecrets } from './check-secrets.ts';
import { makeDataDir } from './data-dir.ts';
import type { Settings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import { startUseRecorder } from './use-recorder.ts';

export type Closing = () => Promise<unknown>;

/** Where a process is put together: what roles share is opened by the first that asks for it. */
export type ServiceParts = Awaited<ReturnType<typeof openParts>>;

/**
 * The parts that roles are made of. Every role has the catalog; the rest is opened when it is asked
 * for, once, and closed after whatever asked for it. So a process holds what its roles use, and
 * `dependencies` lists that and nothing else.
 */
export async function openParts(
  settings: Settings,
  log: Logger,
  around: Surroundings,
  onStop: (close: Closing) => void,
) {
  const { artifactsUrl } = settings;
  makeDataDir(settings.dataDir);
  const metrics = prometheusMetrics(log);
  const dependencies: Dependency[] = [];
  const tracing = await openTracing(process.env, log);
  onStop(() => tracing.close());
  const catalog = await openedCatalog(settings, { metrics, tracing, log }, onStop);
  dependencies.push({ name: 'catalog', check: () => catalog.ping(), required: true });

  const artifacts = once(async () => {
    const bare = countedErrors(openArtifacts(artifactsUrl), 'artifacts', metrics);
    const store = tracing.uploads(meteredUploads(bare, metrics));
    onStop(() => store.close());
    await untilThere('the artifact store', () => store.prepare(), log);
    dependencies.push({ name: 'artifacts', check: () => store.ping(), required: true });
    return store;
  });
  const keeper = once(async () => markKeeper(await artifacts(), catalog, log, onStop));
  const samples = once(async () => {
    const opened = await around.openSamples();
    const store = countedErrors(opened.store, 'samples', metrics);
    const rows = new InsertBatcher({ store: meteredInserts(store, metrics) });
    // The store is closed first: an insert that hangs fails then, and the batcher can end.
    onStop(() => Promise.all([opened.close(), rows.close()]));
    metrics.watch('weir_engine_restarts', () => opened.restarts());
    await untilThere('ClickHouse', () => store.prepare(), log);
    dependencies.push({ name: 'samples', check: () => store.ping(), required: false });
    return { ...opened, store, rows: tracing.rows(rows) };
  });
  const threads = once(async () => {
    const bare = startParsePool({ artifactsUrl }, { threads: around.parseThreads });
    onStop(() => bare.close());
    return { bare, metered: tracing.pool(meteredPool(bare, metrics, log)) };
  });
  const door = once(async () => {
    const pool = startDoorPool();
    onStop(() => pool.close());
    return pool;
  });
  const uses = once(async () => {
    const recorder = startUseRecorder(catalog.directory, log);
    onStop(() => recorder.close());
    return recorder;
  });
  const rates = once(async () => {
    const opened = await around.openRates();
    onStop(() => opened.close());
    metrics.watch('weir_rates_local', () => (opened.isLocal() ? 1 : 0));
    return opened;
  });
  let loop: ParseLoop | null = null;
  return {
    ...{ settings, log, around, onStop, clock: systemClock, metrics, tracing, dependencies },
    ...{ catalog, artifacts, keeper, samples, threads, door, uses, rates },
    setLoop(started: ParseLoop) {
      loop = started;
    },
    /** Has whatever parses look at once: the loop in here, and those of other processes. */
    wakeParsing() {
      loop?.wake();
      around.tellStored();
    },
  };
}

/** A server may come; a file that cannot be opened now is not mended by waiting. */
async function openedCatalog(
  settings: Settings,
  { metrics, tracing, log }: Readonly<{ metrics: Metrics; tracing: Tracing; log: Logger }>,
  onStop: (close: Closing) => void,
): Promise<Catalog> {
  const open = () => checkedCatalog(settings);
  const isElsewhere = isPostgres(settings.catalogUrl);
  const opened = isElsewhere ? await untilThere('the catalog', open, log) : await open();
  onStop(() => opened.close());
  const counted = countedCatalogErrors(opened, metrics);
  return { ...counted, ledger: tracing.ledger(meteredLedger(counted.ledger, metrics)) };
}

async function checkedCatalog(settings: Settings): Promise<Catalog> {
  const opened = await openCatalog(settings.catalogUrl, { thread: true });
  try {
    await checkSecrets(settings, opened.directory);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function markKeeper(
  artifacts: ArtifactStore,
  { upkeep }: Catalog,
  log: Logger,
  onStop: (close: Closing) => void,
): Promise<MarkKeeper> {
  const keeper = new MarkKeeper({ artifacts, upkeep, log });
  await untilThere('the mark of the store', () => keeper.start(), log);
  onStop(() => keeper.stop());
  return keeper;
}

/** As `/readyz` asks whether deliveries are accepted. */
export function acceptingOf(keeper: MarkKeeper): Dependency {
  return {
    name: 'accepting',
    async check() {
      if (keeper.refusal !== null) throw new NotReady(keeper.refusal);
    },
    required: false,
  };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  return () => {
    opened ??= open();
    return opened;
  };
}

const retry = { waitMs: 200, waitMaxMs: 5_000 };

/** Tries again while a store is away; anything else, such as a newer schema, ends the start. */
export function untilThere<T>(what: string, work: () => Promise<T>, log: Logger): Promise<T> {
  const { signal } = new AbortController();
  const told = (err: unknown) => {
    if (!isAway(err)) throw err;
    log.warn({ err }, `${what} is not ready yet`);
  };
  return untilDone(work, { ...retry, signal, told });
}

/** What may come, a user of Postgres too; a wrong password of another store stays what it is. */
function isAway(error: unknown): boolean {
  return [StoreAway, SamplesAway, CatalogAway].some((kind) => error instanceof kind);
}
