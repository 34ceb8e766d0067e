import { pino } from 'pino';
import type { Catalog } from '../catalog/catalog.ts';
import { ParseLoop } from '../parse/loop.ts';
import { startParsePool } from '../parse/pool.ts';
import { InsertBatcher } from '../samples/batcher.ts';
import { systemClock } from '../std/clock.ts';
import { armCrashPoint } from '../std/crash-point.ts';
import type { Settings } from './settings.ts';
import { openCommandSamples } from './stores.ts';

/** Parses what waits in the queue in this process, as the service does, until it is stopped. */
export async function startParsing(
  settings: Settings,
  catalog: Catalog,
): Promise<{ stop(): Promise<void> }> {
  if (settings.WEIR_CRASH_AT) armCrashPoint(settings.WEIR_CRASH_AT);
  const log = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }));
  const samples = await openCommandSamples(settings, log);
  const rows = new InsertBatcher({ store: samples.store });
  const pool = startParsePool({ artifactsUrl: settings.artifactsUrl });
  const { queue, reparses } = catalog;
  const stores = { queue, reparses, samples: samples.store, rows };
  const loop = new ParseLoop({ ...stores, pool, clock: systemClock, log });
  loop.start();
  return {
    async stop() {
      await loop.stop();
      await pool.close();
      await rows.close();
      await samples.close();
    },
  };
}
