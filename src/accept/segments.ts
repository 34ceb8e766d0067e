import { createHash } from 'node:crypto';
import { type ArtifactStore, StoreAway } from '../artifacts/artifacts.ts';
import { objectName, segmentName } from '../artifacts/object-name.ts';
import { encodeSegment, type WholeBody } from '../artifacts/segment.ts';
import { limits } from '../domain/limits.ts';
import type { ArtifactPlace } from '../domain/nouns.ts';
import { crashPoint } from '../std/crash-point.ts';
import { Gather } from '../std/gather.ts';

export interface SegmentParts {
  readonly artifacts: Pick<ArtifactStore, 'begin' | 'remove'>;
  /** A new uuid v7. */
  newArtifactId(now: number): string;
}

/** Bytes that are durable and that no delivery refers to yet. */
export interface Kept {
  readonly place: ArtifactPlace;
  /**
   * No delivery will ever refer to them. The object goes when this was said of all that it holds.
   * Throws as `ArtifactStore.remove` does.
   */
  abandon(): Promise<void>;
}

/**
 * Stores small bodies, several of them in one object, so that they share its cost. A segment is
 * closed at once when none is on its way to the store, else it gathers until one has arrived. One
 * that the store leaves unanswered for a second is not waited for by the next.
 *
 * Failure: a segment that the store does not take fails its own bodies, and no other.
 */
export class Segments {
  readonly #gather: Gather<WholeBody, Kept>;

  constructor(parts: SegmentParts) {
    this.#gather = new Gather((bodies) => store(parts, bodies), {
      groupMax: limits.segmentBodiesMax,
      weightMax: limits.segmentBytesMax,
      weigh: ({ body }) => body.length,
      patience: limits.segmentPatience,
      overtake: limits.segmentOvertake,
      waitingMax: limits.segmentWaitingMax,
      refuse: () => new StoreAway('too many small bodies wait for the store'),
    });
  }

  /** Resolves when the body is durable. */
  keep(body: WholeBody): Promise<Kept> {
    return this.#gather.add(body);
  }
}

async function store(
  { artifacts, newArtifactId }: SegmentParts,
  bodies: readonly WholeBody[],
): Promise<readonly Kept[]> {
  const receivedAt = Math.min(...bodies.map(({ meta }) => meta.receivedAt));
  const object = segmentName(objectName(newArtifactId(receivedAt), receivedAt));
  const { bytes, places } = encodeSegment(object, bodies);
  const upload = artifacts.begin(object, bytes.length, null);
  crashPoint('upload_begun');
  try {
    await upload.write(bytes);
    crashPoint('bytes_sent');
    await upload.commit(createHash('sha256').update(bytes).digest());
  } catch (error) {
    await upload.abort();
    throw error;
  }
  let users = bodies.length;
  const abandon = async () => {
    users -= 1;
    if (users === 0) await artifacts.remove(object);
  };
  return places.map((place) => ({ place, abandon }));
}
