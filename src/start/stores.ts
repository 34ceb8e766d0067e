import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { addressFromUrl } from '../samples/address.ts';
import { openSamples } from '../samples/clickhouse.ts';
import { openEngineAddress, startEngine } from '../samples/engine/supervisor.ts';
import type { SampleStore } from '../samples/samples.ts';
import type { Settings } from './settings.ts';

export interface OpenedSamples {
  readonly store: SampleStore;
  /** Of the engine that was started for it. */
  restarts(): number;
  /** Closes the store, and ends the engine where it was started for it. */
  close(): Promise<void>;
}

/** For the service: the ClickHouse of the settings, or the embedded engine, which it starts. */
export async function openServiceSamples(settings: Settings, log: Logger): Promise<OpenedSamples> {
  if (settings.WEIR_CLICKHOUSE_URL) {
    const store = openSamples(addressFromUrl(settings.WEIR_CLICKHOUSE_URL));
    return { store, restarts: () => 0, close: () => store.close() };
  }
  await mkdir(settings.dataDir, { recursive: true });
  const engine = await startEngine({ dataDir: settings.dataDir, log });
  const store = openSamples(engine.address);
  return {
    store,
    restarts: () => engine.restarts(),
    async close() {
      await store.close();
      await engine.stop();
    },
  };
}

/**
 * For the command line: the engine of the service that runs on this data directory, or one of its
 * own while none runs.
 */
export async function openCommandSamples(settings: Settings, log: Logger): Promise<OpenedSamples> {
  if (!settings.WEIR_CLICKHOUSE_URL) {
    const running = await runningEngine(settings);
    if (running) return { store: running, restarts: () => 0, close: () => running.close() };
  }
  const opened = await openServiceSamples(settings, log);
  await opened.store.prepare();
  return opened;
}

/** Whether the embedded engine of a service, or of another command, runs on this data directory. */
export async function engineRuns(settings: Settings): Promise<boolean> {
  const running = await runningEngine(settings);
  await running?.close();
  return running !== null;
}

async function runningEngine(settings: Settings): Promise<SampleStore | null> {
  let store: SampleStore;
  try {
    store = openSamples(openEngineAddress(settings.dataDir));
  } catch {
    return null; // None ever ran here.
  }
  try {
    await store.ping();
    return store;
  } catch {
    await store.close();
    return null;
  }
}
