import type { Logger } from 'pino';
import { addressFromUrl, type ClickHouseAddress } from '../samples/address.ts';
import { openSamples } from '../samples/clickhouse.ts';
import { readAddress } from '../samples/engine/files.ts';
import { type Engine, startEngine } from '../samples/engine/supervisor.ts';
import type { SampleStore } from '../samples/samples.ts';
import { assert } from '../std/assert.ts';
import { makeDataDir } from './data-dir.ts';
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
  const engine = await startServiceEngine(settings, log);
  if (engine === null) return openGivenSamples(settings, null);
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

/** @returns null when the settings say where ClickHouse is */
export async function startServiceEngine(settings: Settings, log: Logger): Promise<Engine | null> {
  if (settings.WEIR_CLICKHOUSE_URL) return null;
  makeDataDir(settings.dataDir);
  return startEngine({ dataDir: settings.dataDir, log });
}

/** @param engine the embedded one, which somebody else has started; null: as the settings say */
export function openGivenSamples(
  settings: Settings,
  engine: ClickHouseAddress | null,
): OpenedSamples {
  const url = settings.WEIR_CLICKHOUSE_URL;
  assert(url !== undefined || engine !== null, 'ClickHouse is somewhere');
  return opened(engine ?? addressFromUrl(url!));
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
  const address = readAddress(settings.dataDir);
  if (address === null) return null; // None ever ran here.
  const running = opened(address);
  try {
    await running.store.ping();
    return running;
  } catch (error) {
    await running.close();
    if (nobodyListens(error)) return null;
    throw error;
  }
}

/** Whether a call failed since no process is at the address any more. */
function nobodyListens(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET') return true;
  return cause !== undefined && nobodyListens(cause);
}
