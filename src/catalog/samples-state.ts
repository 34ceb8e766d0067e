/**
 * Tells whether reads of a source may show something else than before.
 *
 * What a read showed that was sent to the sample store after this was looked up may be shown again
 * as long as a later lookup finds the same version, and no turn that has run out: whatever anybody
 * was told of is in it. A turn that ran out was left behind by a process that stood still or died;
 * nobody has told what it did.
 */
export interface SamplesState {
  /**
   * Rises with every outcome that takes effect and with every turn that begins or ends, in the
   * very transaction: who hears of it finds it risen.
   */
  readonly version: number;
  /** Of the turn to settle that somebody has, of the source or of all; null: nobody has one. */
  readonly turnEndsAt: number | null;
}
