import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { addressFromUrl, type ClickHouseAddress } from '../samples/address.ts';
import { openSamples } from '../samples/clickhouse.ts';
import { openEngineAddress, startEngine } from '../samples/engine/supervisor.ts';
import type { SampleStore } from '../samples/samples.ts';
import type { Settings } from './settings.ts';

export interface OpenedSamples {
  readonly store: SampleStore;
  readonly address: ClickHouseAddress;
  /** Of the engine that was started for it. */
  restarts(): number;
  /** Closes the store, and ends the engine where it was started for it. */
  close(): Promise<void>;
}

/** For the service: the ClickHouse of the settings, or the embedded engine, which it starts. */
export async function openServiceSamples(settings: Settings, log: Logger): Promise<OpenedSamples> {
  if (settings.WEIR_CLICKHOUSE_URL) {
    return opened(addressFromUrl(settings.WEIR_CLICKHOUSE_URL));
  }
  await mkdir(settings.dataDir, { recursive: true });
  const engine = await startEngine({ dataDir: settings.dataDir, log });
  const { store, address, close } = opened(engine.address);
  return {
    ...{ store, address },
    restarts: () => engine.restarts(),
    async close() {
      await close();
      await engine.stop();
    },
  };
}

function opened(address: ClickHouseAddress): OpenedSamples {
  const store = openSamples(address);
  return { store, address, restarts: () => 0, close: () => store.close() };
}

/**
 * For the command line: the engine of the service that runs on this data directory, or one of its
 * own while none runs.
 */
export async function openCommandSamples(settings: Settings, log: Logger): Promise<OpenedSamples> {
  if (!settings.WEIR_CLICKHOUSE_URL) {
    const running = await runningEngine(settings);
    if (running) return running;
  }
  const own = await openServiceSamples(settings, log);
  await own.store.prepare();
  return own;
}

/** Whether the embedded engine of a service, or of another command, runs on this data directory. */
export async function engineRuns(settings: Settings): Promise<boolean> {
  const running = await runningEngine(settings);
  await running?.close();
  return running !== null;
}

async function runningEngine(settings: Settings): Promise<OpenedSamples | null> {
  let running: OpenedSamples;
  try {
    running = opened(openEngineAddress(settings.dataDir));
  } catch {
    return null; // None ever ran here.
  }
  try {
    await running.store.ping();
    return running;
  } catch {
    await running.close();
    return null;
  }
}
