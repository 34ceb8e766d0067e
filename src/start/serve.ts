import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { StoreAway } from '../artifacts/artifacts.ts';
import { openArtifacts } from '../artifacts/open.ts';
import { openCatalog } from '../catalog/open.ts';
import { listen } from '../http/listener.ts';
import { ReferenceSite } from '../http/reference-site.ts';
import type { Route } from '../http/routes.ts';
import { meteredInserts, meteredLedger, meteredPool, meteredUploads } from '../metrics/metered.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { prometheusMetrics } from '../metrics/prometheus.ts';
import { ParseLoop } from '../parse/loop.ts';
import { startDoorPool, startParsePool } from '../parse/pool.ts';
import { memoryRates } from '../rates/memory.ts';
import { InsertBatcher } from '../samples/batcher.ts';
import { SamplesAway } from '../samples/samples.ts';
import { NotReady, type OpsParts, opsRoutes } from '../serve/ops.ts';
import { monotonicClock, systemClock } from '../std/clock.ts';
import { armCrashPoint } from '../std/crash-point.ts';
import { untilDone } from '../std/retry.ts';
import { MarkKeeper } from '../upkeep/mark-keeper.ts';
import { startOrphanCount } from '../upkeep/orphans.ts';
import { startScrubber } from '../upkeep/scrubber.ts';
import { apiRoutes, isDemo, list, newArtifactId } from './api.ts';
import { openApp } from './app.ts';
import { checkSecrets } from './check-secrets.ts';
import { makeDataDir } from './data-dir.ts';
import { ensureDemo } from './demo/deployment.ts';
import type { Settings } from './settings.ts';
import { openServiceSamples } from './stores.ts';
import { requestWatch, watchParts } from './telling.ts';
import { startUseRecorder } from './use-recorder.ts';

export interface Service {
  /** Answers what is under way, finishes what is being parsed, ends the engine. */
  stop(): Promise<void>;
}

/** A store that is away may come; a wrong password or a newer schema stays what it is. */
function isAway(error: unknown): boolean {
  return error instanceof StoreAway || error instanceof SamplesAway;
}

/** How long a stop waits for answers under way, then for deliveries being parsed. */
const stopWaitMs = { answers: 10_000, parsing: 5_000 };
const retry = { waitMs: 200, waitMaxMs: 5_000 };

/**
 * Starts the whole service. The order is that of the delivery's way, backwards: what a step needs
 * is there before the step is, and the listeners come last. A stop, and a start that fails, close
 * what is open the other way round.
 *
 * @throws Error with one clear line when an address or the data directory is taken
 */
export async function startService(settings: Settings, log: Logger): Promise<Service> {
  if (settings.WEIR_CRASH_AT) armCrashPoint(settings.WEIR_CRASH_AT);
  const closings: Closing[] = [];
  const stop = async () => {
    for (const close of closings.splice(0).reverse()) await close();
  };
  try {
    await open(settings, log, (close) => closings.push(close));
  } catch (error) {
    await stop();
    throw error;
  }
  const { baseUrl: api, appUrl: app, dataDir } = settings;
  log.info({ api, app, dataDir }, 'weir serves');
  return { stop };
}

type Closing = () => Promise<unknown>;

async function open(
  settings: Settings,
  log: Logger,
  onStop: (close: Closing) => void,
): Promise<void> {
  const clock = systemClock;
  makeDataDir(settings.dataDir);
  const metrics = prometheusMetrics(log);
  const opened = await openCatalog(settings.catalogUrl, { thread: true });
  const catalog = { ...opened, ledger: meteredLedger(opened.ledger, metrics) };
  onStop(() => catalog.close());
  await checkSecrets(settings, catalog.directory);
  const artifacts = meteredUploads(openArtifacts(settings.artifactsUrl), metrics);
  onStop(() => artifacts.close());
  const samples = await openServiceSamples(settings, log);
  const batcher = new InsertBatcher({ store: meteredInserts(samples.store, metrics) });
  // The store is closed first: an insert that hangs fails then, and the batcher can end.
  onStop(() => Promise.all([samples.close(), batcher.close()]));
  const { artifactsUrl } = settings;
  const threads = startParsePool({ artifactsUrl });
  const pool = meteredPool(threads, metrics, log);
  const door = startDoorPool();
  onStop(() => Promise.all([pool.close(), door.close()]));
  const { queue, reparses } = catalog;
  const derived = { samples: samples.store, rows: batcher };
  const loop = new ParseLoop({ queue, reparses, ...derived, pool, clock, log });

  await untilThere('the artifact store', () => artifacts.prepare(), log);
  const keeper = new MarkKeeper({ artifacts, upkeep: catalog.upkeep, log });
  await untilThere('the mark of the store', () => keeper.start(), log);
  onStop(() => keeper.stop());
  await untilThere('ClickHouse', () => samples.store.prepare(), log);
  loop.start();
  onStop(() => stopParsing(loop, log));

  const uses = startUseRecorder(catalog.directory, log);
  onStop(() => uses.close());
  const site = new ReferenceSite(docsOrigins(settings));
  const rates = memoryRates(monotonicClock);
  const onStored = () => {
    keeper.noteReceipt();
    loop.wake();
  };
  const requireAccepting = () => keeper.requireAccepting();
  const accepting = { onStored, requireAccepting, clock, log };
  if (isDemo(settings) && keeper.refusal === null) {
    const demo = { catalog, artifacts, newArtifactId, ...accepting };
    await untilThere('the demo', () => ensureDemo(demo), log);
  }
  const stores = { catalog, artifacts, samples: samples.store };
  const routes = apiRoutes({ settings, ...stores, rates, site, door, uses, metrics, ...accepting });
  watchParts(metrics, { catalog, samples, keeper, clock });
  const upkeep = { artifacts, catalog, keeper, clock, log, metrics };
  onStop(startOrphanCount(upkeep));
  onStop(startScrubber(upkeep));
  const dependencies = [
    { name: 'catalog', check: () => catalog.ping(), required: true },
    { name: 'artifacts', check: () => artifacts.ping(), required: true },
    { name: 'samples', check: () => samples.store.ping(), required: false },
    { name: 'accepting', check: () => accepts(keeper), required: false },
  ];
  const own = { settings, catalog, artifacts, samples, rates, dependencies };
  const app = openApp({ ...own, pool: threads, clock, wakeParsing: () => loop.wake() });
  onStop(() => app.close());
  const served = { routes, appRoutes: app.routes };
  await openListeners({ settings, ...served, site, dependencies, metrics, log }, onStop);
}

interface ListenerParts extends OpsParts {
  readonly settings: Settings;
  /** Of the API. */
  readonly routes: readonly Route[];
  readonly appRoutes: readonly Route[];
  readonly site: ReferenceSite;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** The API comes last: who can reach it finds everything else there. */
async function openListeners(
  parts: ListenerParts,
  onStop: (close: Closing) => void,
): Promise<void> {
  const { settings, metrics, site, log } = parts;
  const ops = await listen(settings.WEIR_OPS_LISTEN, opsRoutes(parts), log);
  onStop(() => ops.close(0));
  const watch = requestWatch(metrics);
  const app = await listen(settings.WEIR_APP_LISTEN, parts.appRoutes, log, site, watch);
  onStop(() => app.close(stopWaitMs.answers));
  const shared = settings.WEIR_LISTEN_SHARED === '1';
  const api = await listen({ ...settings.WEIR_LISTEN, shared }, parts.routes, log, site, watch);
  onStop(() => api.close(stopWaitMs.answers));
}

async function accepts(keeper: MarkKeeper): Promise<void> {
  if (keeper.refusal !== null) throw new NotReady(keeper.refusal);
}

/** Where the reference site is: as set, else wherever the app is, which has the reference. */
export function docsOrigins(
  settings: Pick<Settings, 'WEIR_DOCS_ORIGIN' | 'WEIR_APP_LISTEN' | 'appUrl'>,
): string[] {
  if (settings.WEIR_DOCS_ORIGIN !== undefined) return list(settings.WEIR_DOCS_ORIGIN);
  const { port } = settings.WEIR_APP_LISTEN;
  const { origin } = new URL(settings.appUrl);
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`, origin];
}

/** Tries again while a store is away; a wrong password or a newer schema ends the start. */
function untilThere(what: string, work: () => Promise<void>, log: Logger): Promise<void> {
  const { signal } = new AbortController();
  const told = (err: unknown) => {
    if (!isAway(err)) throw err;
    log.warn({ err }, `${what} is not ready yet`);
  };
  return untilDone(work, { ...retry, signal, told });
}

/** What is not parsed by then is parsed after the next start: its lease runs out. */
async function stopParsing(loop: ParseLoop, log: Logger): Promise<void> {
  const waiting = new AbortController();
  const late = sleep(stopWaitMs.parsing, 'late', { signal: waiting.signal }).catch(() => null);
  if ((await Promise.race([loop.stop(), late])) === 'late') {
    log.warn({}, 'stopping while deliveries are being parsed');
  }
  waiting.abort();
}
