/** The nouns of weir (DECISIONS 1), as plain values. Times are milliseconds since 1970. */

export type DeliveryWay = 'push' | 'document' | 'webhook';
export type DocumentFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'xlsx' | 'parquet';
export type Grain = 'day' | 'week' | 'month' | 'quarter' | 'year';
export type Scope = 'read' | 'write' | 'read_write';
export type DeliveryStatus = 'queued' | 'parsing' | 'parsed' | 'rejected';
export type ContentEncoding = 'identity' | 'gzip' | 'zstd';

export interface Company {
  readonly companyId: string;
  readonly name: string;
  /** IANA name; periods are days in this zone; never changes. */
  readonly timezone: string;
}

export interface Metric {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  /** The label set that a sample of it carries, sorted by name; never changes. */
  readonly labels: readonly string[];
}

export interface Field {
  readonly name: string;
  readonly role?: 'period' | 'value' | 'metric' | 'label';
  /** Of a period field; `day` when absent. */
  readonly grain?: Grain;
  /** Of a value field in wide records: the metric's key. */
  readonly metric?: string;
  /** Of a label field: the label's name, the field's own when absent. */
  readonly label?: string;
  readonly personal?: boolean;
  /** True when absent. */
  readonly required?: boolean;
}

/** One saved state of a source; never edited. */
export interface ShapeVersion {
  readonly version: number;
  readonly delivery: DeliveryWay;
  readonly format: DocumentFormat;
  readonly fields: readonly Field[];
  readonly savedAt: number;
  readonly savedBy: string;
}

export interface Source {
  readonly sourceId: string;
  readonly companyId: string;
  readonly name: string;
  /** Of the current shape version. */
  readonly delivery: DeliveryWay;
  readonly shapeVersion: number;
}

export interface AccessKey {
  readonly keyId: string;
  readonly sourceId: string;
  readonly scope: Scope;
  readonly sandbox: boolean;
  /** The published key of a demo deployment: reads only. */
  readonly demo: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  /** The key that took its place; null while it was not rotated. */
  readonly rotatedTo: string | null;
}

/** Where a delivery's bytes lie: a byte range of one stored object. */
export interface ArtifactPlace {
  readonly object: string;
  readonly offset: number;
  readonly length: number;
}

/** What parsing made of a delivery (DECISIONS 2, accounting). */
export interface Counts {
  readonly records: number;
  readonly parsed: number;
  readonly rejected: number;
  readonly samples: number;
  readonly blank: number;
  readonly supersededWithin: number;
}

/** Why a record, or (record null) a delivery as a whole, was rejected. Never quotes a cell. */
export interface Rejection {
  /** From 1; null when the delivery as a whole is rejected. */
  readonly record: number | null;
  /** From 1, a CSV's header being line 1; null where the format has no lines. */
  readonly line: number | null;
  readonly field: string | null;
  readonly code: string;
  readonly message: string;
}

export interface Delivery {
  readonly artifactId: string;
  readonly sourceId: string;
  readonly sandbox: boolean;
  /** Place in the accepted order; decides supersession. */
  readonly sequence: number;
  /** The version the receipt named. */
  readonly receiptShapeVersion: number;
  /** The version it is parsed under; differs from the receipt's after a re-parse. */
  readonly shapeVersion: number;
  /** Zero at first; each re-parse takes a higher one. */
  readonly generation: number;
  readonly status: DeliveryStatus;
  /** 64 lowercase hex digits, over the bytes as received. */
  readonly sha256: string;
  readonly bytes: number;
  readonly delivery: DeliveryWay;
  readonly mediaType: string;
  readonly encoding: ContentEncoding;
  readonly receivedAt: number;
  readonly place: ArtifactPlace;
  /** Of a webhook: the secret that verified it. */
  readonly secretId: string | null;
  /** Null until parsed or rejected. */
  readonly counts: Counts | null;
  /** Why the delivery as a whole was rejected. */
  readonly refusal: Rejection | null;
  readonly undeclaredFields: readonly string[];
}
