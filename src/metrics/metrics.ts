import type { Counts, DeliveryWay } from '../domain/nouns.ts';
import type { MetricsSnapshot } from './together.ts';

/**
 * What the service tells of its work, for `/metrics`. Every call is cheap and never throws. No
 * text that a caller sent is handed in anywhere: labels come from the lists below.
 */
export interface Metrics {
  /** @param route a route's pattern; `none` for an unknown path */
  answered(route: string, status: number, seconds: number): void;
  /** A receipt was given for new bytes. */
  stored(way: DeliveryWay, bytes: number): void;
  /** A receipt was given again. */
  replayed(by: 'key' | 'body'): void;
  /** A known key came with other bytes. */
  conflict(): void;
  /** The artifact store did not take an upload: a failed call of it, too. */
  uploadFailed(): void;
  /** A call of a store failed, and not by what was asked of it. */
  storeFailed(store: StoreName): void;
  /** A task of deliveries was parsed. */
  parsed(deliveries: readonly ParsedCounts[], seconds: number): void;
  inserted(bytes: number, seconds: number): void;
  /** Objects that no delivery refers to, as last counted. */
  orphans(count: number): void;
  orphansRemoved(count: number): void;
  /** A stored artifact was compared with its receipt. */
  scrubbed(bytes: number): void;
  /** Has a value asked for at each scrape; one that cannot be had is then missing. */
  watch(gauge: WatchedGauge, value: () => number | Promise<number>): void;
  /** The value of a watched gauge now; null when it cannot be had. */
  value(gauge: WatchedGauge): Promise<number | null>;
  /** All values now, to be put together with those of other processes (`together.ts`). */
  snapshot(): Promise<MetricsSnapshot>;
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export const storeNames = ['catalog', 'artifacts', 'samples'] as const;
export type StoreName = (typeof storeNames)[number];

export interface ParsedCounts {
  readonly status: 'parsed' | 'rejected';
  readonly counts: Counts;
  readonly valuesSeen: number;
}

/** Values that are asked for, by the name they are shown under, and their help. */
export const watchedGauges = {
  weir_held_bytes: 'Bytes of request bodies held in memory.',
  weir_backlog_deliveries: 'Deliveries that wait to be parsed or are being parsed.',
  weir_backlog_oldest_seconds: 'Since the oldest delivery of the backlog was received; 0: none.',
  weir_engine_restarts: 'Restarts of the embedded ClickHouse engine since the start.',
  weir_accepting: '1 while deliveries are accepted; 0: the catalog is behind its store.',
  weir_rates_local: '1 while Redis is away and the process counts rates by itself; else 0.',
  weir_scrub_damaged_deliveries: 'Deliveries whose stored bytes are missing, changed or refused.',
  weir_processes: 'Processes of the service that are up; of a lone one, 1.',
} as const;

export type WatchedGauge = keyof typeof watchedGauges;
