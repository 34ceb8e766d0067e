import { sql, type Transaction } from 'kysely';
import type { Counts } from '../domain/nouns.ts';
import type { Completed, Outcome } from './catalog.ts';
import type { DbUuid } from './dialect.ts';
import { once } from './once.ts';
import { raiseSamplesVersions } from './samples-versions.ts';
import type { Db, DeliveriesTable, Schema } from './schema.ts';

type Settling = Pick<DeliveriesTable, 'status' | 'refusal' | 'undeclared_fields'> & {
  artifact: DbUuid;
  token: DbUuid;
  now: number;
  parser: number | null;
  generation: number;
} & { [K in keyof Counts]: number };

type Judged = 'unsettled' | 'lost' | { readonly tookOf: number } | { readonly outdatedBy: number };

/**
 * Makes outcomes the state that stands, each if it may be.
 *
 * Nearly all are first parses that nothing stands against: those take one statement. Whatever it
 * does not change is looked at in the same transaction. Whatever took effect raises the version of
 * its source's samples.
 */
export function completeOn(at: Db) {
  const first = settleQuery(at, 'first');
  const next = settleQuery(at, 'next');

  async function complete(
    trx: Transaction<Schema>,
    outcome: Outcome,
    now: number,
  ): Promise<Judged> {
    const values = settling(at, outcome, now);
    const [took] = (await first.run(trx, values)).rows;
    if (took) return { tookOf: took.source_id };
    const row = await rowOf(at, trx, values.artifact);
    if (!row) return 'lost';
    if (row.lease_token === null || at.dialect.uuid.fromDb(row.lease_token) !== outcome.token) {
      const later = await outdatedBy(at, trx, outcome);
      return later === null ? 'lost' : { outdatedBy: later };
    }
    if (outcome.generation !== (row.next_generation ?? row.generation)) {
      // Withdrawn while it was parsed: what is waited for now comes next.
      await giveBack(trx, row.sequence, now);
      return 'lost';
    }
    if (!(await holdsTurn(at, trx, row.source_id, outcome.turn))) return 'unsettled';
    const [settled] = (await next.run(trx, values)).rows;
    return settled ? { tookOf: settled.source_id } : 'lost';
  }

  return async (
    trx: Transaction<Schema>,
    outcomes: readonly Outcome[],
    now: number,
  ): Promise<Completed> => {
    const took: string[] = [];
    const unsettled: string[] = [];
    const outdated: { artifactId: string; generation: number }[] = [];
    const sources = new Set<number>();
    for (const outcome of outcomes) {
      const { artifactId } = outcome;
      const judged = await complete(trx, outcome, now);
      if (judged === 'unsettled') unsettled.push(artifactId);
      else if (judged === 'lost') continue;
      else if ('outdatedBy' in judged) {
        outdated.push({ artifactId, generation: judged.outdatedBy });
      } else {
        took.push(artifactId);
        sources.add(judged.tookOf);
      }
    }
    await raiseSamplesVersions(trx, sources, now);
    return { took, unsettled, outdated };
  };
}

/** The generation that stands already, for a lost lease on a first parse; null otherwise. */
export async function outdatedBy(
  at: Db,
  trx: Transaction<Schema>,
  lost: { readonly artifactId: string; readonly generation: number },
): Promise<number | null> {
  if (lost.generation > 0) return null;
  const row = await rowOf(at, trx, at.dialect.uuid.toDb(lost.artifactId));
  return row && row.generation > 0 ? row.generation : null;
}

/**
 * @param which `first`: only a first parse that no parse again of a later delivery stands against;
 *   `next`: whatever generation is waited for
 */
function settleQuery({ db }: Db, which: 'first' | 'next') {
  return once<Settling>()((p) => {
    const update = db
      .updateTable('deliveries')
      .set({
        status: p.status,
        settled_at: p.now,
        lease_token: null,
        parser_version: p.parser,
        records: p.records,
        parsed: p.parsed,
        rejected: p.rejected,
        samples: p.samples,
        blank: p.blank,
        superseded_within: p.supersededWithin,
        refusal: p.refusal,
        undeclared_fields: p.undeclared_fields,
      })
      .where('artifact_id', '=', p.artifact)
      .where('lease_token', '=', p.token)
      .returning('source_id');
    if (which === 'first') {
      return update
        .where('generation', '=', p.generation)
        .where('next_generation', 'is', null)
        .where('sequence', '>', (eb) =>
          eb
            .selectFrom('sources as s')
            .select('s.reparsed_up_to')
            .whereRef('s.id', '=', 'deliveries.source_id'),
        );
    }
    return update
      .set({
        generation: sql`coalesce(next_generation, generation)`,
        shape_version: sql`coalesce(next_shape_version, shape_version)`,
        metrics_up_to: sql`coalesce(next_metrics_up_to, metrics_up_to)`,
        next_generation: null,
        next_shape_version: null,
        next_metrics_up_to: null,
        next_refusal: null,
      })
      .where(sql`coalesce(next_generation, generation)`, '=', p.generation);
  });
}

function settling({ dialect }: Db, outcome: Outcome, now: number): Settling {
  const { uuid } = dialect;
  return {
    ...outcome.counts,
    artifact: uuid.toDb(outcome.artifactId),
    token: uuid.toDb(outcome.token),
    generation: outcome.generation,
    status: outcome.status,
    now,
    parser: outcome.parserVersion,
    refusal: outcome.refusal === null ? null : JSON.stringify(outcome.refusal),
    undeclared_fields: JSON.stringify(outcome.undeclaredFields),
  };
}

async function rowOf(at: Db, trx: Transaction<Schema>, artifact: DbUuid) {
  const select = trx
    .selectFrom('deliveries')
    .select(['sequence', 'source_id', 'lease_token', 'generation', 'next_generation'])
    .where('artifact_id', '=', artifact);
  return at.dialect.lockRows(select, 'wait').executeTakeFirst();
}

async function giveBack(trx: Transaction<Schema>, sequence: number, now: number) {
  await trx
    .updateTable('deliveries')
    .set({ status: 'queued', lease_token: null, due_at: now })
    .where('sequence', '=', sequence)
    .execute();
}

/** A turn that ran out still counts, as long as nobody else has taken one. */
async function holdsTurn(at: Db, trx: Transaction<Schema>, source: number, turn: string | null) {
  if (turn === null) return false;
  const row = await trx
    .selectFrom('settle_turns')
    .select('token')
    .where('source_id', '=', source)
    .where('token', '=', at.dialect.uuid.toDb(turn))
    .executeTakeFirst();
  return row !== undefined;
}
