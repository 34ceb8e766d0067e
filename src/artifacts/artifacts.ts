import type { Readable } from 'node:stream';
import type { ArtifactPlace, ContentEncoding, DeliveryWay } from '../domain/nouns.ts';

/**
 * Stores what was received, byte for byte, for ever.
 *
 * An upload becomes visible only when it is complete. Until `commit` returns, nothing under its
 * name can be read, listed or found after a crash; when it has returned, the bytes and their
 * metadata survive a loss of power. Everything that can refuse a delivery is therefore decided
 * before `commit`, and `abort` leaves nothing behind.
 */
export interface ArtifactStore {
  readonly kind: 'files' | 's3';

  /** Makes what the store needs (directory, bucket); safe to repeat. Throws when it is away. */
  prepare(): Promise<void>;

  /**
   * Begins an upload of exactly `length` bytes. `object` must never have been used before. `meta`
   * is null for a segment (`segment.ts`), whose name says that it is one: its index holds the
   * metadata of each body.
   */
  begin(object: string, length: number, meta: ArtifactMeta | null): Upload;

  /**
   * Reads a byte range. Absent objects and short ranges throw `ArtifactMissing`; a store that is
   * away throws `StoreAway`. Errors arrive on the stream or as the rejection.
   */
  read(place: ArtifactPlace): Promise<Readable>;

  /**
   * The bodies that an object holds, in their order: one, or those that the index of a segment
   * names. Absent objects, damaged metadata and damaged indexes throw `ArtifactMissing`. The bodies
   * themselves are not looked at.
   */
  contents(object: string): Promise<readonly StoredBody[]>;

  /** Removes an object and its metadata; an absent one is fine. */
  remove(object: string): Promise<void>;

  /** Every committed object, in any order. */
  list(): AsyncIterable<ListedObject>;

  /** The store's mark: a small text that `list` does not yield; null while there is none. */
  readMark(): Promise<string | null>;

  /** Replaces the mark as a whole. Resolves once durable, with the time by the store's clock. */
  writeMark(text: string): Promise<number>;

  /** Resolves when the store answers; throws `StoreAway` otherwise. For health checks. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

export interface ListedObject {
  readonly object: string;
  readonly bytes: number;
  /** By the store's clock. */
  readonly storedAt: number;
  /** A segment: several deliveries share it. */
  readonly isSegment: boolean;
}

/** One body in an object, with what was written beside it. */
export interface StoredBody {
  readonly place: ArtifactPlace;
  readonly meta: ArtifactMeta;
  /** 32 bytes, of the body as it was accepted; null where the store does not keep it. */
  readonly sha256: Buffer | null;
}

/** One object on its way in. One caller; `write` calls do not overlap with `commit`. */
export interface Upload {
  /**
   * Sends the next bytes, in order. Resolves when the store's side has taken them: from then on
   * the caller may reuse the memory, not before. Several writes may be under way; how many bytes
   * are ahead is the caller's to bound. Rejects with `StoreAway`; the upload is then lost.
   */
  write(bytes: Uint8Array): Promise<void>;

  /**
   * Completes the upload: all `length` bytes were written and `sha256` (32 bytes) is their hash,
   * which the store verifies where it can. Resolves once durable and visible. When it rejects,
   * the object may or may not exist; its name must not be used again.
   */
  commit(sha256: Buffer): Promise<void>;

  /** Gives the upload up. Never throws; safe at any time, also after a failed write. */
  abort(): Promise<void>;
}

/** Written with each body, so that a lost catalog can be brought up to the store again. */
export interface ArtifactMeta {
  readonly artifactId: string;
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly idempotencyKey: string;
  readonly shapeVersion: number;
  readonly delivery: DeliveryWay;
  /** Printable ASCII, at most 200 characters: S3 keeps 2 KiB of metadata. */
  readonly mediaType: string;
  readonly encoding: ContentEncoding;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

/** The store cannot be reached, is full or refuses for a reason of its own: try again later. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
  readonly code = 'store_away';
}

/** The object or the byte range is not there: a broken promise, to be alarmed. */
export class ArtifactMissing extends Error {
  override readonly name = 'ArtifactMissing';
  readonly code = 'artifact_missing';
}
