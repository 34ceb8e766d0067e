import { sql } from 'kysely';
import type { DbBool } from './dialect.ts';
import type { Db } from './schema.ts';
import type { RejectedLately } from './source-summaries-contract.ts';

const dayMs = 24 * 3_600_000;

/** Whose deliveries are counted: ids of the database, and which sandbox or both. */
export interface RejectedOf {
  readonly sources: readonly number[];
  readonly sandboxes: readonly DbBool[];
}

/** Of deliveries received in the last 24 hours. Each of the two has an index of its own. */
export async function rejectedLately(
  { db }: Pick<Db, 'db'>,
  of: RejectedOf,
  now: number,
): Promise<RejectedLately> {
  const received = db
    .selectFrom('deliveries')
    .where('source_id', 'in', of.sources)
    .where('sandbox', 'in', of.sandboxes)
    .where('received_at', '>=', now - dayMs);
  const { records } = await received
    .select(sql<number>`coalesce(sum(rejected), 0)`.as('records'))
    .where('rejected', '>', sql.lit(0))
    .executeTakeFirstOrThrow();
  const { deliveries } = await received
    .select(sql<number>`count(*)`.as('deliveries'))
    .where('status', '=', sql.lit('rejected' as const))
    .executeTakeFirstOrThrow();
  return { records, deliveries };
}
