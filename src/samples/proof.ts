import type { EncodedRows } from './samples.ts';

/**
 * What the proof needs of the sample store: a second set of tables that is filled from the
 * artifacts, put in the place of the first or compared with it, and every value a sample ever had.
 *
 * Whoever calls it has the turn of all sources (`catalog/catalog.ts`, `Reparses`): one at a time,
 * and no generation comes to stand meanwhile. First parses go on; their rows go to both sets.
 * A store that cannot be reached throws `SamplesAway`.
 */
export interface SampleProof {
  readonly fresh: FreshSamples;
  readonly differences: SampleDifferences;
  readonly history: SampleHistory;
  close(): Promise<void>;
}

/**
 * The second set. At every moment each of its tables is either complete or not in use, so that a
 * process can die at any point: `begin` and `drop` take away whatever is there.
 */
export interface FreshSamples {
  /** Makes the set, empty; from when this resolves every insert of any process fills it too. */
  begin(): Promise<void>;
  /** As `SampleStore.insert`, into this set only. */
  insert(rows: EncodedRows): Promise<void>;
  /** Which generations stand, where that is not the first. */
  noteGenerations(standing: readonly StandingGeneration[]): Promise<void>;
  /**
   * Puts the set in the place of the one in use, table by table, each at once. An insert that is
   * under way may miss the new set: what was not complete before must be inserted again.
   */
  swap(): Promise<void>;
  /** Takes away the set that is not in use; safe to repeat. */
  drop(): Promise<void>;
  /** What the set holds that reads would show. */
  totals(): Promise<{ samples: number; rejections: number }>;
}

export interface StandingGeneration {
  readonly artifactId: string;
  readonly sourceId: string;
  readonly sequence: number;
  readonly generation: number;
}

/**
 * Compares the two sets: `stored`, the one in use, and `made`, the fresh one. Inserts under way
 * are in one before they are in the other, so a difference may be gone when it is asked for again.
 */
export interface SampleDifferences {
  /** Stretches of the tables that together are all of them, each small enough for one question. */
  stretches(): Promise<Stretch[]>;
  /** Months of a stretch whose digests differ. `samples`: what reads show; `versions`: the past. */
  months(table: ComparedTable, stretch: Stretch): Promise<DifferingMonth[]>;
  /** The samples of such a month that differ; at most `limit`. */
  samples(month: DifferingMonth, limit: number): Promise<DifferingSample[]>;
  /** Deliveries whose rejections differ; at most `limit`. */
  rejections(limit: number): Promise<DifferingRejections[]>;
  /** Deliveries of which another generation stands; at most `limit`. */
  generations(limit: number): Promise<DifferingGeneration[]>;
}

export type ComparedTable = 'samples' | 'versions';

/** Sources from the first to the last of them, and days, both ends included. */
export interface Stretch {
  readonly firstSource: string;
  readonly lastSource: string;
  readonly fromDay: number;
  readonly toDay: number;
  readonly rows: number;
}

export interface DifferingMonth {
  readonly table: ComparedTable;
  readonly sourceId: string;
  /** As 202401. */
  readonly month: number;
  /** Rows on the larger side. */
  readonly rows: number;
}

export interface DifferingSample {
  readonly table: ComparedTable;
  readonly sourceId: string;
  readonly metric: string;
  /** `YYYY-MM-DD` */
  readonly periodStart: string;
  readonly labelsJson: string;
  readonly sandbox: boolean;
  readonly stored: SampleContent | null;
  readonly made: SampleContent | null;
}

export interface SampleContent {
  readonly value: string;
  readonly artifactId: string;
  readonly record: number;
}

export interface DifferingRejections {
  readonly artifactId: string;
  readonly stored: number;
  readonly made: number;
}

export interface DifferingGeneration {
  readonly sourceId: string;
  readonly sequence: number;
  /** 0: the first. */
  readonly stored: number;
  readonly made: number;
}

/** Reads single samples with their past. */
export interface SampleHistory {
  /** Current samples of a metric and day whose labels hold those given; at most `limit`. */
  find(query: HistoryQuery, limit: number): Promise<FoundSample[]>;
  /** Every value that deliveries gave for a sample, latest accepted first; at most `limit`. */
  versions(sample: FoundSample, limit: number): Promise<SampleVersion[]>;
}

export interface HistoryQuery {
  readonly sourceId: string;
  readonly metric: string;
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
}

export interface FoundSample extends SampleContent {
  readonly sourceId: string;
  readonly metric: string;
  readonly day: number;
  readonly labelsJson: string;
  readonly sandbox: boolean;
}

export interface SampleVersion extends SampleContent {
  readonly sequence: number;
  readonly generation: number;
}
