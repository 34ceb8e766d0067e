import type { ArtifactPlace } from '../domain/nouns.ts';

/** What ties the catalog to its artifact store, and what is known of the artifacts there. */
export interface Upkeep {
  standing(): Promise<Standing>;
  /** Sequences given from now on are greater than `above`; never lowers what was raised. */
  raiseSequence(above: number): Promise<void>;
  /**
   * Takes the artifacts whose check is due, in rounds over all of them: the longest unchecked come
   * first, new ones at a round's end. At most `limit`, and no more than `bytesMax` unless the
   * first alone is larger. A round begins no sooner than `roundMs` after the one before did.
   */
  nextToCheck(want: {
    limit: number;
    bytesMax: number;
    roundMs: number;
    now: number;
  }): Promise<StoredArtifact[]>;
  /** Remembers when artifacts were checked and what was wrong with them; null: nothing. */
  noteChecks(checks: readonly ArtifactCheck[]): Promise<void>;
  /** What the last check of a delivery's artifact found; null: nothing, or none yet. */
  damage(artifactId: string): Promise<Damage | null>;
  damagedCount(): Promise<number>;
}

export interface Standing {
  /** A uuid, made with the catalog; its copies have it too. */
  readonly catalogId: string;
  /** The greatest that was given; 0: none. */
  readonly sequence: number;
  /** Of the delivery received last; null: none. */
  readonly receivedAt: number | null;
}

/** Of stored bytes: they are not there, not those that were accepted, or the store refuses them. */
export type Damage = 'missing' | 'changed' | 'unreadable';

export interface StoredArtifact {
  readonly artifactId: string;
  readonly sha256: string;
  readonly place: ArtifactPlace;
}

export interface ArtifactCheck {
  readonly artifactId: string;
  readonly at: number;
  readonly damage: Damage | null;
}
