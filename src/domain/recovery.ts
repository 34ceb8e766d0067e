import { limits } from './limits.ts';

/** An object as the store lists it. */
export interface StoredObject {
  readonly object: string;
  /** By the store's clock. */
  readonly storedAt: number;
}

/**
 * When the delivery of an object was received, the first one of a segment: its name ends in a uuid
 * v7, which begins with that time (RFC 9562, section 5.7).
 */
export function receivedAtOf(object: string): number {
  const id = object.slice(object.lastIndexOf('/') + 1);
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * Whether an object may hold a delivery that a restored catalog has forgotten: it was stored
 * after the newest delivery that the catalog knows was received. Both clocks count, with room for
 * a slow upload and for clocks that differ: old orphans are those of crashes, whose senders
 * were never answered; taken now, they would supersede what was sent instead.
 *
 * @param newest when the catalog's newest delivery was received; null: it has none
 */
export function mayBeForgotten(stored: StoredObject, newest: number | null): boolean {
  if (newest === null) return true;
  return (
    stored.storedAt > newest - limits.recoverClocksDifferMs &&
    receivedAtOf(stored.object) > newest - limits.recoverUploadMsMax
  );
}

/** Whether an orphan is so old, by the store's clock, that it is removed (DECISIONS 5). */
export function isExpired(orphan: StoredObject, storeNow: number): boolean {
  return orphan.storedAt < storeNow - limits.orphanDaysKept * 86_400_000;
}
