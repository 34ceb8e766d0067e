import { type Expression, type SqlBool, sql } from 'kysely';
import type { Db } from './schema.ts';

/**
 * Deliveries of one source that were accepted after or before another, to be ordered by source and
 * sequence.
 *
 * Said as a stretch of the one index that has them together and in this order. Said as "of this
 * source, ordered by sequence" they can also be picked out of all deliveries, and a planner that
 * does so reads millions for a source that has none lately.
 *
 * @param source its id; `deliveries`: their name in the statement
 */
export function ofSourceAfter(
  source: number | Expression<number>,
  after: number,
  deliveries = 'deliveries',
) {
  const [id, sequence] = columns(deliveries);
  return sql<SqlBool>`((${id}, ${sequence}) > (${source}, ${after}) and ${id} <= ${source})`;
}

/** @param before absent: any */
export function ofSourceBefore(
  source: number | Expression<number>,
  before = Number.MAX_SAFE_INTEGER,
  deliveries = 'deliveries',
) {
  const [id, sequence] = columns(deliveries);
  return sql<SqlBool>`((${id}, ${sequence}) < (${source}, ${before}) and ${id} >= ${source})`;
}

function columns(deliveries: string) {
  return [sql.ref(`${deliveries}.source_id`), sql.ref(`${deliveries}.sequence`)] as const;
}

/** A source's id in the database; null, which no delivery has, for one that is not there. */
export function sourceIdOf({ db, dialect }: Db, sourceId: string) {
  const uuid = dialect.uuid.toDb(sourceId);
  return sql<number>`${db.selectFrom('sources').select('id').where('uuid', '=', uuid)}`;
}
