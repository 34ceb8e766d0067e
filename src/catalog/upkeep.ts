import { sql, type Transaction } from 'kysely';
import type { Db, Schema } from './schema.ts';
import type { StoredArtifact, Upkeep } from './upkeep-contract.ts';

export type UpkeepReads = Pick<Upkeep, 'standing' | 'damage' | 'damagedCount'>;
export type UpkeepWrites = Omit<Upkeep, keyof UpkeepReads>;

/**
 * Among so many deliveries accepted last is the one received last: uploads end in another order
 * than they begin.
 */
const lastAccepted = 1_000;

export function upkeepReads({ db, dialect }: Db): UpkeepReads {
  return {
    async standing() {
      const { catalog_id } = await db
        .selectFrom('catalog_state')
        .select('catalog_id')
        .executeTakeFirstOrThrow();
      const last = db
        .selectFrom('deliveries')
        .select(['sequence', 'received_at'])
        .orderBy('sequence', 'desc')
        .limit(lastAccepted);
      const { sequence, received_at } = await db
        .selectFrom(last.as('last'))
        .select([
          sql<number>`coalesce(max(sequence), 0)`.as('sequence'),
          sql<number | null>`max(received_at)`.as('received_at'),
        ])
        .executeTakeFirstOrThrow();
      return { catalogId: dialect.uuid.fromDb(catalog_id), sequence, receivedAt: received_at };
    },
    async damage(artifactId) {
      const row = await db
        .selectFrom('deliveries')
        .select('damage')
        .where('artifact_id', '=', dialect.uuid.toDb(artifactId))
        .executeTakeFirst();
      return row?.damage ?? null;
    },
    async damagedCount() {
      const { count } = await db
        .selectFrom('deliveries')
        .select(sql<number>`count(*)`.as('count'))
        .where('damage', 'is not', null)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}

export function upkeepWrites(at: Db): UpkeepWrites {
  const { db, dialect } = at;
  return {
    async raiseSequence(above) {
      // A transaction: when it is done, no group of the ledger goes by the old one any more.
      await db.transaction().execute(async (trx) => {
        await trx
          .updateTable('catalog_state')
          .set({ sequence_above: above })
          .where('sequence_above', '<', above)
          .execute();
      });
    },
    nextToCheck: (want) => db.transaction().execute((trx) => nextToCheck(at, trx, want)),
    async noteChecks(checks) {
      // One order for all writers, so that none waits for another in a circle.
      const sorted = [...checks].sort((a, b) => (a.artifactId < b.artifactId ? -1 : 1));
      await db.transaction().execute(async (trx) => {
        for (const { artifactId, at: checkedAt, damage } of sorted) {
          await trx
            .updateTable('deliveries')
            .set({ checked_at: checkedAt, damage })
            .where('artifact_id', '=', dialect.uuid.toDb(artifactId))
            .execute();
        }
      });
    },
  };
}

type Want = Parameters<Upkeep['nextToCheck']>[0];

/** The round's place moves on with the taking, so that processes share a round. */
async function nextToCheck(
  at: Db,
  trx: Transaction<Schema>,
  want: Want,
): Promise<StoredArtifact[]> {
  const select = trx.selectFrom('catalog_state').select(['checked_up_to', 'checks_began_at']);
  const state = await at.dialect.lockRows(select, 'wait').executeTakeFirstOrThrow();
  let after = state.checked_up_to;
  let rows = await accepted(trx, after, want.limit);
  // Either way: a clock that was ahead may have begun the last round, and has been set back since.
  const agoMs = Math.abs(want.now - state.checks_began_at);
  if (rows.length === 0 && agoMs >= want.roundMs) {
    after = 0;
    rows = await accepted(trx, after, want.limit);
  }
  const taken: typeof rows = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += row.object_length;
    if (taken.length > 0 && bytes > want.bytesMax) break;
    taken.push(row);
  }
  const last = taken.at(-1);
  if (!last) return [];
  const began = after === 0 ? { checks_began_at: want.now } : {};
  await trx
    .updateTable('catalog_state')
    .set({ checked_up_to: last.sequence, ...began })
    .execute();
  return taken.map((row) => ({
    artifactId: at.dialect.uuid.fromDb(row.artifact_id),
    sha256: row.sha256.toString('hex'),
    place: { object: row.object, offset: row.object_offset, length: row.object_length },
  }));
}

function accepted(trx: Transaction<Schema>, after: number, limit: number) {
  return trx
    .selectFrom('deliveries')
    .select(['sequence', 'artifact_id', 'sha256', 'object', 'object_offset', 'object_length'])
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute();
}
