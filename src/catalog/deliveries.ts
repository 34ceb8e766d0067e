import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { basesIn } from './bases.ts';
import type { Deliveries } from './catalog.ts';
import { deliveryOf, selectDeliveries } from './rows.ts';
import type { Db } from './schema.ts';

/** Names in one `in (…)` list; databases bound the parameters of a statement. */
const namesPerQuery = 500;

export function deliveriesReads(at: Db): Deliveries {
  const { db, dialect } = at;
  const ofArtifact = (artifactId: string) =>
    db
      .selectFrom('deliveries')
      .select('sequence')
      .where('artifact_id', '=', dialect.uuid.toDb(artifactId));
  return {
    async byArtifact(artifactId) {
      const select = selectDeliveries(db).where(
        'd.artifact_id',
        '=',
        dialect.uuid.toDb(artifactId),
      );
      const row = await select.executeTakeFirst();
      return row ? deliveryOf(at, row) : null;
    },
    async list(sourceId, page) {
      let select = selectDeliveries(db)
        .where('s.uuid', '=', dialect.uuid.toDb(sourceId))
        .orderBy('d.sequence', 'desc')
        .limit(page.limit);
      if (page.before !== undefined) select = select.where('d.sequence', '<', page.before);
      return (await select.execute()).map((row) => deliveryOf(at, row));
    },
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
    async idempotencyKeys(artifactId) {
      const rows = await db
        .selectFrom('delivery_keys')
        .select('key')
        .where('sequence', 'in', ofArtifact(artifactId))
        .orderBy('ordinal')
        .execute();
      return rows.map((row) => row.key);
    },
    async conflicts(artifactId) {
      const { count } = await db
        .selectFrom('delivery_conflicts')
        .select(sql<number>`count(*)`.as('count'))
        .where('sequence', 'in', ofArtifact(artifactId))
        .executeTakeFirstOrThrow();
      return count;
    },
    bases: (page) => basesIn(at, page),
    async extent() {
      return await db
        .selectFrom('deliveries')
        .select([
          sql<number>`count(*)`.as('deliveries'),
          sql<number>`coalesce(sum(bytes), 0)`.as('bytes'),
        ])
        .executeTakeFirstOrThrow();
    },
    async waiting() {
      const waiting = db.selectFrom('deliveries').select('sequence');
      // Each of the two has a partial index of its own.
      const first = await waiting
        .where('settled_at', 'is', null)
        .where('next_generation', 'is', null)
        .execute();
      const next = await waiting.where('next_generation', 'is not', null).execute();
      return [...first, ...next].map((row) => row.sequence).sort((a, b) => a - b);
    },
    async referenced(objects) {
      const found = new Set<string>();
      for (let from = 0; from < objects.length; from += namesPerQuery) {
        const rows = await db
          .selectFrom('deliveries')
          .select('object')
          .where('object', 'in', objects.slice(from, from + namesPerQuery))
          .execute();
        for (const row of rows) found.add(row.object);
        // Between the lists the event loop has its turn: a sweep asks for many.
        await setImmediate();
      }
      return found;
    },
  };
}
