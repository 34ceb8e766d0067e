import type { MessagePort } from 'node:worker_threads';
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
  /**
   * Takes rows of deliveries that have very many: the thread sends `HandedRows`, whole rows of a
   * delivery whose last byte was judged, and waits for a boolean, whether it may go on. Without
   * it, all rows come with the answer.
   */
  readonly rows?: MessagePort;
}

/** Encoded rows, cut into pieces at any byte; transferred, not copied. */
export interface RowPieces {
  /** As `domain/sample-row.ts` encodes them. */
  readonly sampleRows: readonly Uint8Array<ArrayBuffer>[];
  readonly sampleRowCount: number;
  /** As `domain/rejection-row.ts` encodes them. */
  readonly rejectionRows: readonly Uint8Array<ArrayBuffer>[];
  readonly rejectionRowCount: number;
}

export interface HandedRows extends RowPieces {
  /** The place of the delivery in the task. */
  readonly delivery: number;
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
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** The stored bytes are missing, or not those of the receipt: nothing was parsed. */
  | { readonly kind: 'damaged'; readonly reason: string };

/** What was made of a delivery, and its rows, but for those that were handed on before. */
export interface ParsedDelivery extends RowPieces {
  readonly status: 'parsed' | 'rejected';
  readonly counts: Counts;
  /** Value cells of the parsed records, counted by itself: the accounting is checked by it. */
  readonly valuesSeen: number;
  readonly refusal: Rejection | null;
  readonly undeclaredFields: readonly string[];
}

/** Raised when the rules of parsing change; kept with each delivery. */
export const parserVersion = 1;

/** To the thread that reads single records again, which reads the body by itself. */
export interface LocateTask {
  readonly input: ParseInput;
  /** Numbers from 1, as they stand with each sample and rejection. */
  readonly records: readonly number[];
  /** Of each record: fields, and characters of a text. Absent: all of it. */
  readonly shownMax?: { readonly fields: number; readonly chars: number };
}

export type LocateAnswer =
  /** In the order they were asked for; null: the body has no such record, as far as it is read. */
  | { readonly kind: 'read'; readonly records: readonly (LocatedRecord | null)[] }
  /** The stored bytes are not those of the receipt, or not there. */
  | { readonly kind: 'changed' | 'missing' }
  /** The store does not give them now. */
  | { readonly kind: 'unreadable'; readonly reason: string };

/** A record in its body. */
export interface LocatedRecord {
  /** From 1; null where the format has no lines. */
  readonly line: number | null;
  /** In the body, its content encoding undone; null in XLSX and Parquet, where it has no place. */
  readonly bytes: { readonly from: number; readonly to: number } | null;
  /**
   * By name, as text: what the record has of the fields of the shape. Null stands for what is no
   * text and for null itself, and masks whatever is undeclared or personal. A record that is
   * broken has none.
   */
  readonly fields: Readonly<Record<string, string | null>>;
  /** Names of the fields that are null since their text is not to be shown. */
  readonly masked: readonly string[];
  /** More was there than was to be shown. */
  readonly cut: boolean;
}

/** To the thread that reads large JSON pushes at the door; it answers a `PushReading`. */
export interface ReadPushTask {
  readonly body: Uint8Array;
  readonly required: readonly string[] | null;
}
