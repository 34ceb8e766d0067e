/**
 * Parsing again (DECISIONS 3). A delivery waits for its next generation as any waits for its
 * first; until `Queue.complete` what stands stays. Generations and turns are numbered by one
 * counter, which never falls behind the seconds since 1970: a catalog restored from a backup
 * then gives no number that the sample store has seen.
 */
export interface Reparses {
  /**
   * Puts deliveries back to the queue, to be parsed under `shapeVersion` (absent: each under its
   * own). Those that wait or are being parsed are left out of the answer and stay as they are.
   * Refused: `delivery_not_found`, `shape_version_not_found`.
   */
  begin(
    want: { readonly artifactIds: readonly string[]; readonly shapeVersion?: number },
    now: number,
  ): Promise<{ artifactId: string; generation: number }[]>;
  /**
   * A turn to settle samples of one source, or (null) to have all sources to oneself: turns of
   * one source never overlap. Null: somebody else has one.
   */
  takeTurn(want: {
    readonly sourceId: string | null;
    readonly leaseMs: number;
    readonly now: number;
  }): Promise<SettleTurn | null>;
  /** Puts a turn's end further out. False: somebody else has taken it over, it is lost. */
  extendTurn(token: string, until: number): Promise<boolean>;
  endTurn(token: string): Promise<void>;
  /**
   * Sources with withdrawn samples, all settled by now, whose text is still to be taken out of
   * the sample store (`SampleStore.forget`).
   */
  toForget(): Promise<{ sourceId: string; generation: number }[]>;
  /** It is done, for withdrawals up to this generation. */
  forgotten(sourceId: string, generation: number): Promise<void>;
}

export interface SettleTurn {
  readonly token: string;
  /** Above the number of every turn before. */
  readonly number: number;
  /** Highest sequence of the source's deliveries whose parse again was ever begun. */
  readonly reparsedUpTo: number;
}
