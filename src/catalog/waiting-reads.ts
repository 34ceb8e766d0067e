import { sql } from 'kysely';
import type { Deliveries } from './deliveries-contract.ts';
import type { Db } from './schema.ts';

/** What a parse again asks: which were rejected, how many wait for a next generation. */
export function waitingReads({ db, dialect }: Db): Pick<Deliveries, 'rejected' | 'reparsing'> {
  return {
    async rejected(sourceId, page) {
      const rows = await db
        .selectFrom('deliveries as d')
        .innerJoin('sources as s', 's.id', 'd.source_id')
        .select(['d.artifact_id', 'd.sequence'])
        .where('s.uuid', '=', dialect.uuid.toDb(sourceId))
        .where('d.status', '=', sql.lit('rejected'))
        .where('d.sequence', '>', page.after)
        .orderBy('d.sequence')
        .limit(page.limit)
        .execute();
      return rows.map((row) => ({
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
