import type { Company, Delivery, Metric, ShapeVersion } from '../domain/nouns.ts';

/** What is read of deliveries, one by one and all of them (`Catalog`). */
export interface Deliveries {
  byArtifact(artifactId: string): Promise<Delivery | null>;
  /** Newest accepted first; `before` is a sequence, exclusive. */
  list(sourceId: string, page: { limit: number; before?: number }): Promise<Delivery[]>;
  /** Artifact ids of settled ones in accepted order; `after` is a sequence, exclusive. */
  settled(
    sourceId: string,
    filter: SettledFilter,
    page: { limit: number; after: number },
  ): Promise<{ artifactId: string; sequence: number }[]>;
  /** How many of a source wait for a next generation up to this one. */
  reparsing(sourceId: string, generation: number): Promise<number>;
  /** All names of a delivery, first one first. */
  idempotencyKeys(artifactId: string): Promise<string[]>;
  /** How often a known key came with other bytes. */
  conflicts(artifactId: string): Promise<number>;
  /** In accepted order, with what their parses rest on; `after` is a sequence, exclusive. */
  bases(page: { limit: number; after: number }): Promise<DeliveryBasis[]>;
  /** How many there are, and how many bytes. */
  extent(): Promise<{ deliveries: number; bytes: number }>;
  /** Sequences of those that wait for a generation or are being parsed, ascending. */
  waiting(): Promise<number[]>;
  /** Which of these deliveries there are. */
  known(artifactIds: readonly string[]): Promise<Set<string>>;
  /** Whether an object is referenced by any delivery. */
  referenced(objects: readonly string[]): Promise<Set<string>>;
}

/** Which deliveries are meant: those for which all that is said holds. */
export interface SettledFilter {
  readonly status?: 'parsed' | 'rejected';
  /** Of the generation that stands. */
  readonly shapeVersion?: number;
  /** Milliseconds since 1970: at this time or later, and before this time. */
  readonly receivedFrom?: number;
  readonly receivedBefore?: number;
}

/** A delivery and all that decides what its bytes give. */
export interface DeliveryBasis {
  readonly delivery: Delivery;
  readonly company: Company;
  /** Names of the fields that the source's current version marks personal. */
  readonly personalNow: readonly string[];
  /** Of the generation that stands; null: there is none yet. */
  readonly standing: ParseBasis | null;
  /** The version of the parser that made it; null: there was nothing to parse, or none stands. */
  readonly parserVersion: number | null;
  /** Of the generation that is being parsed; null: none is, or there is nothing to parse. */
  readonly underWay: ParseBasis | null;
}

export interface ParseBasis {
  readonly generation: number;
  readonly shape: ShapeVersion;
  /** Those in effect when it was first claimed. */
  readonly metrics: readonly Metric[];
}
