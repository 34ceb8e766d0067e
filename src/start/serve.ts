import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';
import { ingestRoute } from '../accept/ingest.ts';
import { StoreAway } from '../artifacts/artifacts.ts';
import { openArtifacts } from '../artifacts/open.ts';
import { openCatalog } from '../catalog/open.ts';
import { limits } from '../domain/limits.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { listen } from '../http/listener.ts';
import { ParseLoop } from '../parse/loop.ts';
import { startDoorPool, startParsePool } from '../parse/pool.ts';
import { InsertBatcher } from '../samples/batcher.ts';
import { SamplesAway } from '../samples/samples.ts';
import { deliveryRoute } from '../serve/deliveries.ts';
import { opsRoutes } from '../serve/ops.ts';
import { samplesRoute } from '../serve/samples.ts';
import { systemClock } from '../std/clock.ts';
import { armCrashPoint } from '../std/crash-point.ts';
import { untilDone } from '../std/retry.ts';
import type { Settings } from './settings.ts';
import { openServiceSamples } from './stores.ts';

export interface Service {
  /** Answers what is under way, finishes what is being parsed, ends the engine. */
  stop(): Promise<void>;
}

/** A store that is away may come; a wrong password or a newer schema stays what it is. */
function isAway(error: unknown): boolean {
  return error instanceof StoreAway || error instanceof SamplesAway;
}

const drainMs = 10_000;
const retry = { waitMs: 200, waitMaxMs: 5_000 };

/**
 * Starts the whole service. The order is that of the delivery's way, backwards: what a step needs
 * is there before the step is, and the listeners come last.
 *
 * @throws Error with one clear line when an address or the data directory is taken
 */
export async function startService(settings: Settings, log: Logger): Promise<Service> {
  const clock = systemClock;
  const stopping = new AbortController();
  if (settings.WEIR_CRASH_AT) armCrashPoint(settings.WEIR_CRASH_AT);
  await mkdir(settings.dataDir, { recursive: true });
  const catalog = await openCatalog(settings.catalogUrl, { thread: true });
  const artifacts = openArtifacts(settings.artifactsUrl);
  const samples = await openServiceSamples(settings, log);
  const batcher = new InsertBatcher({ store: samples.store });
  const pool = startParsePool({ artifactsUrl: settings.artifactsUrl });
  const door = startDoorPool();
  const loop = new ParseLoop({ queue: catalog.queue, pool, rows: batcher, clock, log });

  const away = (what: string) => (err: unknown) => {
    if (!isAway(err)) throw err;
    log.warn({ err }, `${what} is not ready yet`);
  };
  const { signal } = stopping;
  await untilDone(() => artifacts.prepare(), {
    ...retry,
    signal,
    told: away('the artifact store'),
  });
  await untilDone(() => samples.store.prepare(), { ...retry, signal, told: away('ClickHouse') });
  loop.start();

  const accept = {
    catalog,
    artifacts,
    budget: new ByteBudget(limits.bodyBytesHeldMax),
    clock,
    newArtifactId: (now: number) => uuid({ msecs: now }),
    readLargePush: door.readPush,
    onStored: () => loop.wake(),
    log,
  };
  const parts = { catalog, samples: samples.store, clock };
  const dependencies = [
    { name: 'catalog', check: () => catalog.ping(), required: true },
    { name: 'artifacts', check: () => artifacts.ping(), required: true },
    { name: 'samples', check: () => samples.store.ping(), required: false },
  ];
  const api = [ingestRoute(accept), samplesRoute(parts), deliveryRoute(parts)];
  const listeners = [
    await listen(settings.WEIR_LISTEN, api, log),
    await listen(settings.WEIR_OPS_LISTEN, opsRoutes(dependencies), log),
  ];
  log.info({ api: settings.baseUrl, dataDir: settings.dataDir }, 'weir serves');

  return {
    async stop() {
      stopping.abort();
      await Promise.all(listeners.map((one) => one.drain(drainMs)));
      await loop.stop();
      for (const one of listeners) one.close();
      await batcher.close();
      await Promise.all([pool.close(), door.close()]);
      await samples.close();
      await artifacts.close();
      await catalog.close();
    },
  };
}
