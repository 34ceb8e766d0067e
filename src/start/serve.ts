import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Listener, type ListenerAddress, listen } from '../http/listener.ts';
import { ReferenceSite } from '../http/reference-site.ts';
import type { Route } from '../http/routes.ts';
import { ParseLoop } from '../parse/loop.ts';
import { armCrashPoint } from '../std/crash-point.ts';
import { startOrphanCount } from '../upkeep/orphans.ts';
import { startScrubber } from '../upkeep/scrubber.ts';
import { acceptRoutes, isDemo, list, newArtifactId, readRoutes } from './api.ts';
import { openApp } from './app.ts';
import { ensureDemo } from './demo/deployment.ts';
import { acceptingOf, type Closing, openParts, type ServiceParts, untilThere } from './parts.ts';
import { allRoles, type Role } from './roles.ts';
import type { Settings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import { requestWatch, watchCatalog } from './telling.ts';

export interface Service {
  /** Answers what is under way, finishes what is being parsed, closes its stores. */
  stop(): Promise<void>;
}

/** How long a stop waits for answers under way, then for deliveries being parsed. */
const stopWaitMs = { answers: 10_000, parsing: 5_000 };

/** What a process does for its roles, in order. */
interface Step {
  readonly of: readonly Role[];
  /** By one process of a service. */
  readonly once?: boolean;
  start(parts: ServiceParts, listeners: ToListen[]): Promise<void>;
}

/** The order is that of the delivery's way, backwards: what a step needs is there before it. */
const steps: readonly Step[] = [
  { of: allRoles, once: true, start: async (parts) => watchCatalog(parts.metrics, parts) },
  { of: ['parse'], start: startParsing },
  { of: ['accept'], once: true, start: makeDemo },
  { of: ['parse'], once: true, start: startUpkeep },
  { of: ['app'], start: addApp },
  { of: ['accept', 'serve'], start: addApi },
];

/** Routes to be served when every step is done. */
interface ToListen {
  readonly address: ListenerAddress;
  readonly routes: readonly Route[];
}

/**
 * Starts what the roles of this process need; the listeners come last. A stop, and a start that
 * fails, close what is open the other way round.
 *
 * @throws Error with one clear line when an address or the data directory is taken
 */
export async function startService(
  settings: Settings,
  log: Logger,
  around: Surroundings,
): Promise<Service> {
  if (settings.WEIR_CRASH_AT) armCrashPoint(settings.WEIR_CRASH_AT);
  const closings: Closing[] = [];
  const stop = async () => {
    for (const close of closings.splice(0).reverse()) await close();
  };
  try {
    const parts = await openParts(settings, log, around, (close) => closings.push(close));
    const listeners: ToListen[] = [];
    for (const { of, once = false, start } of steps) {
      if (once && !around.isFirst) continue;
      if (of.some((role) => around.roles.has(role))) await start(parts, listeners);
    }
    await openListeners(parts, listeners);
  } catch (error) {
    await stop();
    throw error;
  }
  const { baseUrl: api, appUrl: app, dataDir } = settings;
  log.info({ api, app, dataDir, roles: [...around.roles] }, 'weir serves');
  return { stop };
}

async function startParsing(parts: ServiceParts): Promise<void> {
  const { catalog, clock, log, around, onStop } = parts;
  // Nothing of a store that belongs to another catalog is parsed.
  await parts.keeper();
  const { store: samples, rows } = await parts.samples();
  const { metered: pool } = await parts.threads();
  const { queue, reparses } = catalog;
  const loop = new ParseLoop({ queue, reparses, samples, rows, pool, clock, log });
  loop.start();
  parts.setLoop(loop);
  around.onStored(() => loop.wake());
  catalog.onQueued(() => loop.wake());
  onStop(() => stopParsing(loop, log));
}

async function startUpkeep({ onStop, ...parts }: ServiceParts): Promise<void> {
  const [artifacts, keeper] = [await parts.artifacts(), await parts.keeper()];
  onStop(startOrphanCount({ ...parts, artifacts, keeper }));
  onStop(startScrubber({ ...parts, artifacts }));
}

async function makeDemo(parts: ServiceParts): Promise<void> {
  if (!isDemo(parts.settings)) return;
  const { artifacts, ...accepting } = await acceptingParts(parts);
  if (accepting.keeper.refusal !== null) return;
  const { catalog, clock, log } = parts;
  const demo = { catalog, artifacts, newArtifactId, clock, log, ...accepting };
  await untilThere('the demo', () => ensureDemo(demo), log);
}

async function acceptingParts(parts: ServiceParts) {
  const [artifacts, keeper] = [await parts.artifacts(), await parts.keeper()];
  return {
    ...{ artifacts, keeper },
    requireAccepting: () => keeper.requireAccepting(),
    onStored() {
      keeper.noteReceipt();
      parts.wakeParsing();
    },
  };
}

async function addApp(parts: ServiceParts, listeners: ToListen[]): Promise<void> {
  const { settings, catalog, clock, dependencies, around, onStop } = parts;
  const [artifacts, samples] = [await parts.artifacts(), await parts.samples()];
  const [{ bare: pool }, rates] = [await parts.threads(), await parts.rates()];
  const own = { settings, catalog, artifacts, samples, rates, pool, dependencies, clock };
  const app = openApp({ ...own, wakeParsing: () => parts.wakeParsing() });
  onStop(() => app.close());
  const address = { ...settings.WEIR_APP_LISTEN, shared: around.sharesAddresses };
  listeners.push({ address, routes: app.routes });
}

async function addApi(parts: ServiceParts, listeners: ToListen[]): Promise<void> {
  const { settings, metrics, dependencies, around } = parts;
  const [rates, uses, site] = [await parts.rates(), await parts.uses(), siteOf(settings)];
  const api = { ...parts, rates, uses, site };
  const routes: Route[] = [];
  if (around.roles.has('accept')) {
    const accepting = await acceptingParts(parts);
    const { keeper } = accepting;
    dependencies.push(acceptingOf(keeper));
    metrics.watch('weir_accepting', () => (keeper.refusal === null ? 1 : 0));
    routes.push(...acceptRoutes({ ...api, ...accepting, door: await parts.door() }));
  }
  if (around.roles.has('serve')) {
    const { store: samples } = await parts.samples();
    routes.push(...readRoutes({ ...api, samples }));
  }
  const shared = around.sharesAddresses || settings.WEIR_LISTEN_SHARED === '1';
  listeners.push({ address: { ...settings.WEIR_LISTEN, shared }, routes });
}

/** The API comes last: who can reach it finds everything else there. */
async function openListeners(parts: ServiceParts, listeners: readonly ToListen[]): Promise<void> {
  const { settings, metrics, log, around, onStop } = parts;
  onStop(await around.openOps(parts));
  const [site, watch] = [siteOf(settings), requestWatch(metrics, parts.tracing)];
  for (const { address, routes } of listeners) {
    const listener: Listener = await listen(address, routes, log, site, watch);
    onStop(() => listener.close(stopWaitMs.answers));
  }
}

function siteOf(settings: Settings): ReferenceSite {
  return new ReferenceSite(docsOrigins(settings));
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

/** What is not parsed by then is parsed after the next start: its lease runs out. */
async function stopParsing(loop: ParseLoop, log: Logger): Promise<void> {
  const waiting = new AbortController();
  const late = sleep(stopWaitMs.parsing, 'late', { signal: waiting.signal }).catch(() => null);
  if ((await Promise.race([loop.stop(), late])) === 'late') {
    log.warn({}, 'stopping while deliveries are being parsed');
  }
  waiting.abort();
}
