import type { listDeliveries } from '../../domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';

export type Row = AnswerOf<typeof listDeliveries>['deliveries'][number];

/** What a list shows, and what waits to be shown. */
export interface LiveRows {
  readonly rows: readonly Row[];
  /** Those that the filter no longer finds: their state has gone on. */
  readonly left: ReadonlySet<string>;
  /** New ones that are not shown yet. */
  readonly waiting: number;
}

/**
 * Takes in what a list has become. While somebody reads, rows stay where they are: their states
 * change in place, and new ones wait.
 *
 * @param full the page has as many rows as fit: those beyond its end were pushed off it
 * @param mayMove nobody reads in the list now
 */
export function liveRows(
  before: LiveRows | null,
  found: readonly Row[],
  { full, mayMove }: { readonly full: boolean; readonly mayMove: boolean },
): LiveRows {
  if (before === null || mayMove || before.rows.length === 0) {
    return { rows: found, left: new Set(), waiting: 0 };
  }
  const now = new Map(found.map((row) => [row.artifact_id, row]));
  const known = new Set(before.rows.map((row) => row.artifact_id));
  const end = full ? (found.at(-1)?.received_at ?? '') : '';
  const left = before.rows.filter((row) => !now.has(row.artifact_id) && row.received_at >= end);
  return {
    rows: before.rows.map((row) => now.get(row.artifact_id) ?? row),
    left: new Set(left.map((row) => row.artifact_id)),
    waiting: found.filter((row) => !known.has(row.artifact_id)).length,
  };
}
