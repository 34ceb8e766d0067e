import type { Rejection } from '../domain/nouns.ts';

/**
 * Holds what parsing derived: the samples of each source, and the rejections of each delivery.
 * All of it can be dropped and made again from artifacts and catalog.
 *
 * Exactly-once is a property of the data: each row carries (sequence, generation, record) as its
 * version, so inserting it again is harmless. A store that cannot be reached throws `SamplesAway`.
 */
export interface SampleStore {
  /**
   * Brings the schema up to date; safe to repeat and to race. A schema made by a newer program
   * throws `SchemaTooNew`: trying again does not help.
   */
  prepare(): Promise<void>;

  /**
   * Inserts encoded rows (`domain/sample-row.ts`, `domain/rejection-row.ts`), of any number of
   * deliveries. Resolves when all of them are durable and readable; a failure may have inserted
   * some, and the whole call is then repeated.
   */
  insert(rows: EncodedRows): Promise<void>;

  /**
   * Makes generations of deliveries the ones that stand, and the samples that these ever gave
   * what they are then: the valid row of the greatest (sequence, record) is readable, or nothing.
   * All change at once, when this resolves at the latest. May be repeated in a later turn; turns
   * of one source must not overlap.
   */
  settle(settlement: Settlement): Promise<void>;

  /**
   * Takes the rows of withdrawn generations out of the store for good, with what hid them: nothing
   * readable changes. May be repeated; within a turn of the source.
   */
  forget(forgetting: Forgetting): Promise<void>;

  /**
   * The newest samples of a window, superseded ones left out, as bytes: the text of a JSON array
   * of Sample objects (specification, "Sample"), at most `limit` of them.
   * Order: period_start descending, metric, labels (canonical JSON as UTF-8 bytes), sandbox.
   */
  window(query: WindowQuery): Promise<WindowAnswer>;

  /**
   * The samples that one generation of a delivery gave, those superseded by others too, as lines
   * of tab-separated text without escapes: record, days since 1970 negated, metric, labels,
   * value. The chunks may end within a line.
   */
  generation(query: GenerationQuery): AsyncIterable<Buffer>;

  /** Rejections of one delivery's generation, by record, then in the order they were found. */
  rejections(query: RejectionsQuery): Promise<Rejection[]>;

  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface EncodedRows {
  readonly samples: readonly Uint8Array[];
  /** Samples of generations above 0: kept, but not readable before they are settled. */
  readonly reparsed?: readonly Uint8Array[];
  readonly rejections: readonly Uint8Array[];
}

export interface Settlement {
  readonly sourceId: string;
  /** Above that of every turn before. */
  readonly number: number;
  /** Highest sequence of the source's deliveries whose parse again was ever begun. */
  readonly reparsedUpTo: number;
  /** Their rows are durable. Generation 0: a first parse that came late. */
  readonly deliveries: readonly { readonly sequence: number; readonly generation: number }[];
}

export interface Forgetting {
  readonly sourceId: string;
  /** Of deliveries that have this generation or a later one, those before are forgotten. */
  readonly generation: number;
}

export interface WindowQuery {
  readonly sourceId: string;
  /** First day, inclusive; days since 1970-01-01, may be negative. */
  readonly fromDay: number;
  /** The day after the last. */
  readonly toDay: number;
  /** Absent: production and sandbox both. */
  readonly sandbox?: boolean;
  readonly limit: number;
  /** Stands around the array, so that a whole answer is made without another copy. */
  readonly around?: TextAround;
}

export interface TextAround {
  readonly before: string;
  after(truncated: boolean): string;
}

export interface WindowAnswer {
  /** Nobody else has it: its memory may be given back. */
  readonly json: Buffer;
  readonly count: number;
  /** The window holds more than `limit`. */
  readonly truncated: boolean;
}

export interface GenerationQuery {
  readonly sourceId: string;
  readonly sequence: number;
  readonly generation: number;
}

export interface RejectionsQuery {
  readonly artifactId: string;
  readonly generation: number;
  readonly limit: number;
  /** How many to pass over. */
  readonly offset?: number;
}

/** ClickHouse cannot be reached: try again later. */
export class SamplesAway extends Error {
  override readonly name = 'SamplesAway';
  readonly code = 'samples_away';
}

/** The schema was made by a newer weir; this one must not touch it. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
  readonly code = 'schema_too_new';
}
