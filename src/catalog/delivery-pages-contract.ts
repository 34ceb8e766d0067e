import type { Delivery, DeliveryStatus } from '../domain/nouns.ts';
import type { Damage } from './upkeep-contract.ts';

/**
 * Deliveries as people look at them: lists, what is beside a single one, and how a company's
 * deliveries go. What a read looks at is bounded by its limits and by indexes, never by how many
 * deliveries there are; where a bound cuts something off, the answer says so. Times are
 * milliseconds since 1970.
 */
export interface DeliveryPages {
  /** Received last first; of those received in one millisecond, accepted last first. */
  page(sourceId: string, filter: PageFilter, page: PageWant): Promise<ListedDelivery[]>;
  /**
   * The first `limit` names, in the order of their bytes, that begin with a text, or are it. A
   * name may stand twice: in production and in sandbox.
   */
  named(
    sourceId: string,
    name: { readonly text: string; readonly whole: boolean },
    limit: number,
  ): Promise<{ key: string; sequence: number }[]>;
  /** How many of each status there are, counted up to `max`. */
  counts(
    sourceId: string,
    filter: Pick<PageFilter, 'sandbox' | 'receivedFrom' | 'receivedBefore'>,
    max: number,
  ): Promise<Record<DeliveryStatus, number>>;
  /**
   * What stands beside a delivery; of each list `limit` are given, and up to `countedMax.beside`
   * counted. Null: there is no such delivery.
   */
  details(artifactId: string, limit: number): Promise<DeliveryDetails | null>;
}

/** Those for which all that is said holds. */
export interface PageFilter {
  readonly status?: DeliveryStatus;
  readonly sandbox?: boolean;
  /** At this time or later, and before this time. */
  readonly receivedFrom?: number;
  readonly receivedBefore?: number;
  /** Only these. */
  readonly sequences?: readonly number[];
  /** Only those whose key came again with other bytes. */
  readonly conflicting?: true;
  /** Only those of which records were rejected; others may have been good. */
  readonly rejecting?: true;
}

export interface PageWant {
  readonly limit: number;
  /** After this one, which need not be there any more. */
  readonly after?: { readonly receivedAt: number; readonly sequence: number };
}

export interface ListedDelivery {
  readonly delivery: Delivery;
  /** The first of its idempotency keys. */
  readonly firstKey: string;
  /** How often a known key came with other bytes. */
  readonly conflicts: number;
  readonly damage: Damage | null;
}

export interface DeliveryDetails {
  /** When what stands was complete; null: nothing is, or a next generation is waited for. */
  readonly settledAt: number | null;
  /** The parser that made what stands. */
  readonly parserVersion: number | null;
  /** The generation that is waited for beside one that stands. */
  readonly waitsFor: { readonly generation: number; readonly shapeVersion: number } | null;
  /** When its stored bytes were last compared with the receipt, and what was wrong with them. */
  readonly checkedAt: number | null;
  readonly damage: Damage | null;
  /** The first one first. */
  readonly keys: { readonly count: number; readonly first: readonly DeliveryKey[] };
  /** The newest first. */
  readonly conflicts: { readonly count: number; readonly newest: readonly Conflict[] };
}

export interface DeliveryKey {
  readonly key: string;
  readonly namedAt: number;
}

/** A known key that came with other bytes. */
export interface Conflict {
  readonly key: string;
  /** Hex, of the bytes that came and were not kept. */
  readonly sha256: string;
  readonly at: number;
}
