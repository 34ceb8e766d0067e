import type {
  ArtifactPlace,
  ContentEncoding,
  Counts,
  DeliveryWay,
  DocumentFormat,
  Field,
  Metric,
  Rejection,
} from '../domain/nouns.ts';

/** What crosses between the parse loop and its worker threads. Checked by types on both sides. */

/** Handed to each thread once, when it starts. */
export interface WorkerSettings {
  /** As `WEIR_ARTIFACTS_URL`; the worker reads bodies from the store by itself. */
  readonly artifactsUrl: string;
}

export interface ParseTask {
  readonly deliveries: readonly ParseInput[];
}

export interface ParseInput {
  readonly artifactId: string;
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly sequence: number;
  readonly generation: number;
  readonly place: ArtifactPlace;
  readonly sha256: string;
  readonly delivery: DeliveryWay;
  readonly format: DocumentFormat;
  readonly mediaType: string;
  readonly encoding: ContentEncoding;
  readonly fields: readonly Field[];
  readonly metrics: readonly Metric[];
  /** Names of the fields that the source's current version marks personal. */
  readonly personalNow: readonly string[];
  readonly timezone: string;
}

export interface ParseAnswer {
  /** One for each delivery of the task, in order. */
  readonly outcomes: readonly ParseOutcome[];
}

export type ParseOutcome =
  | ({ readonly kind: 'done' } & ParsedDelivery)
  /** The bytes could not be read: an infrastructure failure, never the delivery's fault. */
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface ParsedDelivery {
  readonly status: 'parsed' | 'rejected';
  readonly counts: Counts;
  /** Value cells of the parsed records, counted by itself: the accounting is checked by it. */
  readonly valuesSeen: number;
  readonly refusal: Rejection | null;
  readonly undeclaredFields: readonly string[];
  /** Encoded by `domain/sample-row.ts`; transferred, not copied. */
  readonly sampleRows: Uint8Array;
  readonly sampleRowCount: number;
  /** Encoded by `domain/rejection-row.ts`. */
  readonly rejectionRows: Uint8Array;
  readonly rejectionRowCount: number;
}

/** Raised when the rules of parsing change; kept with each delivery. */
export const parserVersion = 1;

/** To the thread that reads large JSON pushes at the door; it answers a `PushReading`. */
export interface ReadPushTask {
  readonly body: Uint8Array;
  readonly required: readonly string[] | null;
}
