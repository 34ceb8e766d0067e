import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Notified of by the ledger when deliveries wait to be parsed. */
export const queuedChannel = 'weir_queued';

const waitMs = { between: 10_000, after: 1_000 };

/**
 * Calls `told` whenever any node has stored deliveries, and after each time it could not have been
 * told. A connection of its own; lost, it is made anew.
 */
export function listenForQueued(pool: pg.Pool, told: () => void): { close(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  const run = async () => {
    while (!signal.aborted) {
      await listenOnce(pool, told, signal, wait).catch(() => {});
      // What was stored meanwhile is found by the loop's own asking, or by this.
      if (!signal.aborted) await wait(waitMs.after);
    }
  };
  const running = run();
  return {
    async close() {
      stopping.abort();
      await running;
    },
  };
}

/** Until the connection is lost or `signal` says so. */
async function listenOnce(
  pool: pg.Pool,
  told: () => void,
  signal: AbortSignal,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  let lost = false;
  const noteLost = () => {
    lost = true;
  };
  client.on('error', noteLost);
  client.on('notification', told);
  try {
    await client.query(`listen ${queuedChannel}`);
    told();
    while (!signal.aborted && !lost) {
      await wait(waitMs.between);
      // Says something, so that a server that is gone is noticed.
      if (!signal.aborted) await client.query('select 1');
    }
  } finally {
    client.off('notification', told);
    client.release(true);
  }
}
