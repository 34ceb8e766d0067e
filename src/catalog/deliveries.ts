import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { basesReads } from './bases.ts';
import type { Deliveries } from './deliveries-contract.ts';
import { ofSourceBefore, sourceIdOf } from './of-source.ts';
import { deliveryOf, selectDeliveries } from './rows.ts';
import type { Db } from './schema.ts';
import { waitingReads } from './waiting-reads.ts';

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
      const select = selectDeliveries(db)
        .where(ofSourceBefore(sourceIdOf(at, sourceId), page.before, 'd'))
        .orderBy('d.source_id', 'desc')
        .orderBy('d.sequence', 'desc')
        .limit(page.limit);
      return (await select.execute()).map((row) => deliveryOf(at, row));
    },
    ...waitingReads(at),
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
    ...basesReads(at),
    ...presence(at),
  };
}

/** What is there of long lists: a recovery and a sweep ask for many. */
function presence({ db, dialect }: Db): Pick<Deliveries, 'known' | 'referenced'> {
  return {
    async known(artifactIds) {
      const found = new Set<string>();
      const ids = artifactIds.map((id) => dialect.uuid.toDb(id));
      for (const part of partsOf(ids)) {
        const rows = await db
          .selectFrom('deliveries')
          .select('artifact_id')
          .where('artifact_id', 'in', part)
          .execute();
        for (const row of rows) found.add(dialect.uuid.fromDb(row.artifact_id));
        // Between the parts the event loop has its turn.
        await setImmediate();
      }
      return found;
    },
    async referenced(objects) {
      const found = new Set<string>();
      for (const part of partsOf(objects)) {
        const rows = await db
          .selectFrom('deliveries')
          .select('object')
          .where('object', 'in', part)
          .execute();
        for (const row of rows) found.add(row.object);
        await setImmediate();
      }
      return found;
    },
  };
}

function partsOf<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < items.length; from += namesPerQuery) {
    parts.push(items.slice(from, from + namesPerQuery));
  }
  return parts;
}
