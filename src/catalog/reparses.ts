import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { limits } from '../domain/limits.ts';
import { CatalogRefusal, type Reparses } from './catalog.ts';
import { freshNumber, putNext } from './next-generation.ts';
import { allSources, raiseSamplesVersions } from './samples-versions.ts';
import type { Db, Schema } from './schema.ts';

export function reparsesOn(at: Db): Reparses {
  const { db, dialect } = at;
  const transact = <T>(work: (trx: Transaction<Schema>) => Promise<T>) =>
    db.transaction().execute(work);
  return {
    begin: (want, now) => transact((trx) => begin(at, trx, want, now)),
    takeTurn: (want) => transact((trx) => takeTurn(at, trx, want)),
    // A transaction: one that ran out must not come back while somebody else takes it over.
    extendTurn: (token, until) =>
      transact(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('settle_turns')
          .set({ until_at: until })
          .where('token', '=', dialect.uuid.toDb(token))
          .executeTakeFirstOrThrow();
        return numUpdatedRows > 0n;
      }),
    endTurn: (token) => transact((trx) => endTurn(at, trx, token)),
    async toForget() {
      const rows = await db
        .selectFrom('sources as s')
        .select(['s.uuid', 's.forget_below'])
        .where('s.forget_below', 'is not', null)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('deliveries as d')
                .select('d.sequence')
                .whereRef('d.source_id', '=', 's.id')
                .where('d.next_generation', 'is not', null)
                .whereRef('d.next_generation', '<=', 's.forget_below'),
            ),
          ),
        )
        .execute();
      return rows.map((row) => ({
        sourceId: dialect.uuid.fromDb(row.uuid),
        generation: row.forget_below!,
      }));
    },
    async forgotten(sourceId, generation) {
      await db
        .updateTable('sources')
        .set({ forget_below: null })
        .where('uuid', '=', dialect.uuid.toDb(sourceId))
        .where('forget_below', '<=', generation)
        .execute();
    },
  };
}

async function begin(
  at: Db,
  trx: Transaction<Schema>,
  want: Parameters<Reparses['begin']>[0],
  now: number,
) {
  const { artifactIds, shapeVersion } = want;
  if (artifactIds.length === 0) return [];
  const { uuid } = at.dialect;
  const select = trx
    .selectFrom('deliveries')
    .select(['sequence', 'source_id', 'artifact_id', 'settled_at'])
    .where('artifact_id', 'in', artifactIds.map(uuid.toDb))
    .orderBy('sequence');
  const rows = await at.dialect.lockRows(select, 'wait').execute();
  if (rows.length < new Set(artifactIds).size) {
    throw new CatalogRefusal('delivery_not_found', 'There is no such delivery.');
  }
  if (shapeVersion !== undefined) {
    for (const source of new Set(rows.map((row) => row.source_id))) {
      await needVersion(trx, source, shapeVersion);
    }
  }
  const settled = rows.filter((row) => row.settled_at !== null);
  if (settled.length === 0) return [];
  const generation = await freshNumber(trx, now);
  const version = shapeVersion === undefined ? {} : { shapeVersion };
  const sequences = settled.map((row) => row.sequence);
  await putNext(trx, { generation, refusal: null, ...version }, { sequences });
  return settled.map((row) => ({ artifactId: uuid.fromDb(row.artifact_id), generation }));
}

async function needVersion(trx: Transaction<Schema>, source: number, version: number) {
  const found = await trx
    .selectFrom('shape_versions')
    .select('version')
    .where('source_id', '=', source)
    .where('version', '=', version)
    .executeTakeFirst();
  if (!found) {
    throw new CatalogRefusal('shape_version_not_found', 'There is no such shape version.');
  }
}

async function takeTurn(
  at: Db,
  trx: Transaction<Schema>,
  { sourceId, leaseMs, now }: Parameters<Reparses['takeTurn']>[0],
) {
  // First, for whoever counts is alone: two of these at once would not see each other's turn.
  const number = await freshNumber(trx, now);
  const source = sourceId === null ? null : await sourceRow(at, trx, sourceId);
  // One that ends later than any does is of a clock that was ahead and has been set back since.
  const last = now + limits.queueAheadMsMax;
  let others = trx
    .selectFrom('settle_turns')
    .select('source_id')
    .where((eb) => eb.between('until_at', now + 1, last));
  if (source) others = others.where('source_id', 'in', [source.id, allSources]);
  if (await others.executeTakeFirst()) return null;
  // What ran out is over for good now: its holder may no longer complete anything.
  const ended = await trx
    .deleteFrom('settle_turns')
    .where((eb) => eb.not(eb.between('until_at', now + 1, last)))
    .returning('source_id')
    .execute();
  const id = source?.id ?? allSources;
  const token = randomUUID();
  const turn = { token: at.dialect.uuid.toDb(token), until_at: now + leaseMs };
  await trx
    .insertInto('settle_turns')
    .values({ source_id: id, ...turn })
    .execute();
  await raiseSamplesVersions(trx, [id, ...ended.map((row) => row.source_id)], now);
  return { token, number, reparsedUpTo: source?.reparsed_up_to ?? 0 };
}

/** Whatever was done within it, reads may show it from now on. */
async function endTurn(at: Db, trx: Transaction<Schema>, token: string): Promise<void> {
  const ended = await trx
    .deleteFrom('settle_turns')
    .where('token', '=', at.dialect.uuid.toDb(token))
    .returning('source_id')
    .execute();
  // Above what the turn's beginning made it.
  await raiseSamplesVersions(
    trx,
    ended.map((row) => row.source_id),
    0,
  );
}

async function sourceRow(at: Db, trx: Transaction<Schema>, sourceId: string) {
  const row = await trx
    .selectFrom('sources')
    .select(['id', 'reparsed_up_to'])
    .where('uuid', '=', at.dialect.uuid.toDb(sourceId))
    .executeTakeFirst();
  if (!row) throw new CatalogRefusal('source_not_found', 'There is no such source.');
  return row;
}
