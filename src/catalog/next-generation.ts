import { type SqlBool, sql, type Transaction } from 'kysely';
import type { Rejection } from '../domain/nouns.ts';
import { assert } from '../std/assert.ts';
import type { Schema } from './schema.ts';

/**
 * The next number of the catalog's one counter of generations and turns. It never falls behind
 * the seconds since 1970, so that a catalog restored from a backup gives no number twice.
 */
export async function freshNumber(trx: Transaction<Schema>, now: number): Promise<number> {
  const seconds = Math.floor(now / 1_000);
  const { value } = await trx
    .updateTable('counters')
    .set({
      value: sql<number>`case when value < ${seconds} then ${seconds} else value + 1 end`,
    })
    .where('name', '=', 'generation')
    .returning('value')
    .executeTakeFirstOrThrow();
  // It is 32 bits of a sample's version.
  assert(value < 2 ** 32, 'generations are 32 bits');
  return value;
}

export interface Next {
  readonly generation: number;
  /** Absent: the version that the delivery is, or was to be, parsed under. */
  readonly shapeVersion?: number;
  /** Null: it is parsed. */
  readonly refusal: Rejection | null;
}

/**
 * Has deliveries wait for their next generation. One that is being parsed keeps its lease: who
 * holds it may have inserted rows, and the next generation must come after them.
 *
 * @param chosen narrows an update down to the deliveries
 * @returns how many there were
 */
export async function putNext(
  trx: Transaction<Schema>,
  next: Next,
  chosen: { readonly sequences: readonly number[] } | { readonly exposed: Exposed },
): Promise<number> {
  const leased = sql`status = 'parsing'`;
  let update = trx.updateTable('deliveries').set({
    next_generation: next.generation,
    next_shape_version: next.shapeVersion ?? sql`coalesce(next_shape_version, shape_version)`,
    next_metrics_up_to: null,
    next_refusal: next.refusal === null ? null : JSON.stringify(next.refusal),
    settled_at: null,
    status: sql`case when ${leased} then status else 'queued' end`,
    due_at: sql`case when ${leased} then due_at else 0 end`,
    failures: 0,
    crashes: 0,
  });
  if ('sequences' in chosen) {
    update = update.where('sequence', 'in', chosen.sequences);
  } else {
    const { sourceId, versions } = chosen.exposed;
    update = update.where('source_id', '=', sourceId).where(stillExposed(versions));
  }
  const rows = await update.returning(['sequence', 'source_id']).execute();
  await noteReparsed(trx, rows);
  return rows.length;
}

/** Deliveries of a source under versions that give a role to a field which is personal now. */
export interface Exposed {
  readonly sourceId: number;
  readonly versions: readonly number[];
}

/** As `JSON.stringify` writes it; quotes within a field's name are escaped there. */
const withdrawn = '%"code":"personal_field"%';

/** Of a delivery: it stands, or is to stand, under one of these, and is not withdrawn already. */
export function stillExposed(versions: readonly number[]) {
  return sql<SqlBool>`(
    coalesce(next_shape_version, shape_version) in (${sql.join(versions)})
    and coalesce(next_refusal, '') not like ${withdrawn}
    and (next_generation is not null or coalesce(refusal, '') not like ${withdrawn})
  )`;
}

async function noteReparsed(
  trx: Transaction<Schema>,
  rows: readonly { sequence: number; source_id: number }[],
): Promise<void> {
  const highest = new Map<number, number>();
  for (const { sequence, source_id: source } of rows) {
    highest.set(source, Math.max(sequence, highest.get(source) ?? 0));
  }
  for (const [source, sequence] of [...highest].sort(([a], [b]) => a - b)) {
    await trx
      .updateTable('sources')
      .set({ reparsed_up_to: sequence })
      .where('id', '=', source)
      .where('reparsed_up_to', '<', sequence)
      .execute();
  }
}
