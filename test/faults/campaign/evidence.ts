import type { LoadLog } from './attempts.ts';
import type { Scope } from './draws.ts';

/** All that the oracle judges, gathered when the faults have stopped and the queue is empty. */
export interface Evidence {
  readonly seed: number;
  /** Whether anything was killed. */
  readonly faulted: boolean;
  readonly scopes: readonly Scope[];
  readonly log: LoadLog;
  /** In accepted order. */
  readonly deliveries: readonly CatalogDelivery[];
  /** Known keys that came with other bytes. */
  readonly conflicts: readonly { sequence: number; key: string; sha256: string }[];
  /** Of each artifact: the hash of the bytes that its place in the store holds. */
  readonly stored: ReadonlyMap<string, string>;
  /** Objects that no delivery refers to, with the hashes of the bodies in them. */
  readonly orphans: readonly { object: string; bodies: readonly string[] }[];
  /** Every row of samples ever parsed, as text, by source; in order of sequence and record. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** How many rejections of records there are, by artifact. */
  readonly rejections: ReadonlyMap<string, number>;
  /** What the API shows of each source. */
  readonly samples: ReadonlyMap<string, readonly ShownSample[]>;
  /** What the API says to a source's key about a delivery of another source. */
  readonly foreign: readonly { artifactId: string; scope: string; status: number }[];
  /** By how much the service's own accounting is wrong. */
  readonly accountingDifference: number;
  /** Ends of the service that nobody made, each with what it said last. */
  readonly selfEnds: readonly string[];
  /** From the last fault until every delivery was final; null: they were not, in time. */
  readonly drainedSeconds: number | null;
}

/** A row of the catalog, read from its database file. */
export interface CatalogDelivery {
  readonly sequence: number;
  readonly artifactId: string;
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly sha256: string;
  readonly bytes: number;
  readonly status: string;
  readonly records: number;
  readonly parsed: number;
  readonly rejected: number;
  readonly samples: number;
  readonly blank: number;
  readonly supersededWithin: number;
  readonly shapeVersion: number;
  readonly keys: readonly string[];
  readonly place: { readonly object: string; readonly offset: number; readonly length: number };
}

export interface ShownSample {
  readonly metric: string;
  readonly period_start: string;
  readonly value: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
  readonly artifact_id: string;
}

/** Stands for bytes that cannot be read. */
export const unreadableBytes = 'unreadable';
