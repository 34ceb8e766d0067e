import { sql } from 'kysely';
import type { Deliveries } from './deliveries-contract.ts';
import { ofSourceAfter, sourceIdOf } from './of-source.ts';
import type { Db } from './schema.ts';

/** What a parse again asks: which are meant, how many wait for a next generation. */
export function waitingReads(at: Db): Pick<Deliveries, 'settled' | 'reparsing'> {
  const { db, dialect } = at;
  return {
    async settled(sourceId, filter, page) {
      let select = db
        .selectFrom('deliveries as d')
        .select(['d.artifact_id', 'd.sequence'])
        .where(ofSourceAfter(sourceIdOf(at, sourceId), page.after, 'd'))
        .where('d.settled_at', 'is not', null)
        .orderBy('d.source_id')
        .orderBy('d.sequence')
        .limit(page.limit);
      const { status, shapeVersion, receivedFrom, receivedBefore } = filter;
      if (status !== undefined) select = select.where('d.status', '=', sql.lit(status));
      if (shapeVersion !== undefined) select = select.where('d.shape_version', '=', shapeVersion);
      if (receivedFrom !== undefined) select = select.where('d.received_at', '>=', receivedFrom);
      if (receivedBefore !== undefined) select = select.where('d.received_at', '<', receivedBefore);
      return (await select.execute()).map((row) => ({
        artifactId: dialect.uuid.fromDb(row.artifact_id),
        sequence: row.sequence,
      }));
    },
    async reparsing(sourceId, generation) {
      const { count } = await db
        .selectFrom('deliveries as d')
        .innerJoin('sources as s', 's.id', 'd.source_id')
        .select(sql<number>`count(*)`.as('count'))
        .where('s.uuid', '=', dialect.uuid.toDb(sourceId))
        .where('d.next_generation', 'is not', null)
        .where('d.next_generation', '<=', generation)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}
