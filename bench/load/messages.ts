import type { S3Address } from '../../src/artifacts/s3/address.ts';

/** What crosses between the bench and its loader, which is a process of its own. */

/** Where a server listens on this machine. */
export type Address = { readonly port: number } | { readonly socketPath: string };

/** Who takes deliveries, and how they are said to it. */
export type Target =
  /** `POST /v1/ingest`, as weir and the ordinary services take it. */
  | { readonly kind: 'ingest'; readonly port: number; readonly keys: readonly string[] }
  /**
   * A signed PUT of each delivery, straight to the object store. `hashed`: with its SHA-256, which
   * the store then checks.
   */
  | { readonly kind: 'put'; readonly address: S3Address; readonly hashed: boolean }
  /** `POST` with the whole upload (tus 1.0.0, "Creation With Upload"). */
  | { readonly kind: 'tus'; readonly port: number };

/** Sends documents, several connections at once, each one document after the other. */
export interface DocumentsJob {
  readonly kind: 'documents';
  readonly target: Target;
  readonly connections: number;
  /** Numbers of the documents are this and the next ones: each is sent once in a run. */
  readonly first: number;
  /** How many are sent. */
  readonly count: number;
  readonly documentBytes: number;
}

/** Sends small pushes by autocannon. */
export interface PushesJob {
  readonly kind: 'pushes';
  readonly target: Target;
  readonly connections: number;
  readonly first: number;
  readonly count: number;
  readonly pushBytes: number;
}

/** Sends requests on one connection, one after the other. */
export interface RequestsJob {
  readonly kind: 'requests';
  readonly address: Address;
  readonly requests: readonly string[];
  /** Of every answer. */
  readonly status: number;
}

/** Opens connections, sends one request on each, and leaves them open until `release`. */
export interface IdleJob {
  readonly kind: 'idle';
  readonly port: number;
  readonly connections: number;
}

export interface ReleaseJob {
  readonly kind: 'release';
}

export type Job = DocumentsJob | PushesJob | RequestsJob | IdleJob | ReleaseJob;

/** What a job took and did. */
export interface Load {
  readonly seconds: number;
  readonly bytes: number;
  /** Of each request, in the order of their answers. */
  readonly latenciesMs: readonly number[];
}

export interface JobMessage {
  readonly id: number;
  readonly job: Job;
}

export type LoadMessage =
  | { readonly id: number; readonly load: Load }
  | { readonly id: number; readonly error: string };
