import type { ShapeVersion, Source } from '../domain/nouns.ts';

/**
 * What the app lists of sources (`Catalog`). Each call takes little time however much a source
 * holds: counts that could grow without end stop at a bound, and say so.
 */
export interface SourceSummaries {
  /** By name. `now` decides what the last 24 hours are. */
  sources(companyId: string, now: number): Promise<SourceSummary[]>;
  /** Newest first; `before` is a version, exclusive. */
  shapes(sourceId: string, page: { limit: number; before?: number }): Promise<ShapeVersion[]>;
  /**
   * How many deliveries a save would withdraw that marks these fields personal (DECISIONS 1),
   * given how things stand.
   */
  exposed(sourceId: string, personal: readonly string[]): Promise<number>;
}

export interface SourceSummary extends Source {
  readonly createdAt: number;
  /** The newest accepted; null: none was yet. */
  readonly lastDelivery: { readonly receivedAt: number; readonly sandbox: boolean } | null;
  /** Deliveries that wait or are being parsed, counted up to `countedMax.backlog`. */
  readonly backlog: number;
  /** Of deliveries received in the last 24 hours. */
  readonly rejected: RejectedLately;
  readonly rejectedSandbox: RejectedLately;
}

export interface RejectedLately {
  readonly records: number;
  /** As a whole. */
  readonly deliveries: number;
}
