import { randomUUID } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { limits } from '../domain/limits.ts';
import type { Counts, DeliveryStatus, Rejection } from '../domain/nouns.ts';
import { CatalogRefusal, type Job, type Lease, type Outcome, type Queue } from './catalog.ts';
import type { DbUuid } from './dialect.ts';
import { jobsOf } from './jobs.ts';
import { once } from './once.ts';
import type { Db, DeliveriesTable, Schema } from './schema.ts';

/**
 * The parse queue over the rows of `deliveries` whose `settled_at` is null.
 *
 *   queued   waits; `due_at`: not before. Entered by the ledger, `release`, `crashed`.
 *   parsing  leased; `lease_token`: whose, `due_at`: until when. Entered by `claim`; a claim takes
 *            it again when `due_at` has passed, and counts a failure.
 *   parsed, rejected   `settled_at` set, no token. Entered by `complete` and `crashed`.
 *
 * Ordering: whoever holds the current token decides, even when its lease has run out, as long as
 * nobody else has claimed. A token belongs to one generation: a re-parse clears it.
 */
type Settling = Pick<DeliveriesTable, 'status' | 'refusal' | 'undeclared_fields'> & {
  artifact: DbUuid;
  token: DbUuid;
  now: number;
  parser: number | null;
} & { [K in keyof Counts]: number };

export function queueOn(at: Db): Queue {
  const { db, dialect } = at;
  const settle = settleQuery(db);
  const postpone = postponeQuery(db);
  const giveBack = giveBackQuery(db);
  const transact = <T>(work: (trx: Transaction<Schema>) => Promise<T>) =>
    db.transaction().execute(work);
  const lease = ({ artifactId, token }: Lease) => ({
    artifact: dialect.uuid.toDb(artifactId),
    token: dialect.uuid.toDb(token),
  });
  return {
    async claim(want) {
      // Most askings find nothing; those must not take the one write lock.
      if (await nothingDue(db, want.now)) return [];
      return transact((trx) => claim(at, trx, want));
    },
    extend: (leases, until) =>
      transact(async (trx) => {
        for (const one of sorted(leases)) await postpone.run(trx, { ...lease(one), until });
      }),
    complete: (outcomes, now) =>
      transact(async (trx) => {
        const took: string[] = [];
        for (const outcome of sorted(outcomes)) {
          const { changed } = await settle.run(trx, settling(outcome, lease(outcome), now));
          if (changed === 1) took.push(outcome.artifactId);
        }
        return took;
      }),
    release: (leases, notBefore) =>
      transact(async (trx) => {
        const set = { due: notBefore, failures: 1, crashes: 0 };
        for (const one of sorted(leases)) await giveBack.run(trx, { ...lease(one), ...set });
      }),
    crashed: (one, now) =>
      transact(async (trx) => {
        const row = await stateOf(at, trx, one.artifactId);
        if (row.lease_token === null || dialect.uuid.fromDb(row.lease_token) !== one.token) {
          return row.status;
        }
        await giveBack.run(trx, { ...lease(one), due: now, failures: 0, crashes: 1 });
        if (row.crashes + 1 < limits.parserCrashesMax) return 'queued';
        await rejectCrashed(trx, row.sequence, now);
        return 'rejected';
      }),
    async backlog() {
      const { deliveries, oldest } = await db
        .selectFrom('deliveries')
        .select([
          sql<number>`count(*)`.as('deliveries'),
          sql<number>`min(received_at)`.as('oldest'),
        ])
        .where('settled_at', 'is', null)
        .executeTakeFirstOrThrow();
      return { deliveries, oldestReceivedAt: oldest };
    },
  };
}

type Want = Parameters<Queue['claim']>[0];

async function nothingDue(db: Kysely<Schema>, now: number): Promise<boolean> {
  return (await dueQuery(db, now, 1).execute()).length === 0;
}

/** What may be claimed, in accepted order. */
export function dueQuery(db: Kysely<Schema>, now: number, limit: number) {
  return db
    .selectFrom('deliveries')
    .select(['sequence', 'bytes'])
    .where('settled_at', 'is', null)
    .where('due_at', '<=', now)
    .orderBy('sequence')
    .limit(limit);
}

async function claim(at: Db, trx: Transaction<Schema>, want: Want): Promise<Job[]> {
  const due = await at.dialect.lockRows(dueQuery(trx, want.now, want.limit), 'skip').execute();
  const taken: number[] = [];
  let bytes = 0;
  for (const row of due) {
    bytes += row.bytes;
    if (taken.length > 0 && bytes > want.bytesMax) break;
    taken.push(row.sequence);
  }
  if (taken.length === 0) return [];
  const token = randomUUID();
  await trx
    .updateTable('deliveries')
    .set({
      status: 'parsing',
      lease_token: at.dialect.uuid.toDb(token),
      due_at: want.now + want.leaseMs,
      // A delivery that is still `parsing` here has a lease that ran out.
      failures: sql<number>`failures + case when status = 'parsing' then 1 else 0 end`,
      // Taken once for each generation: a second attempt must see what the first one saw, for
      // rows of the first may be in the sample store already.
      metrics_up_to: sql<number>`coalesce(metrics_up_to, (
        select coalesce(max(m.id), 0) from metrics as m
        join sources as s on s.company_id = m.company_id
        where s.id = deliveries.source_id))`,
    })
    .where('sequence', 'in', taken)
    .execute();
  return jobsOf(at, trx, taken, token);
}

function settleQuery(db: Kysely<Schema>) {
  return once<Settling>()((p) =>
    db
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
      .where('lease_token', '=', p.token),
  );
}

function settling(
  outcome: Outcome,
  lease: { artifact: DbUuid; token: DbUuid },
  now: number,
): Settling {
  return {
    ...lease,
    ...outcome.counts,
    status: outcome.status,
    now,
    parser: outcome.parserVersion,
    refusal: outcome.refusal === null ? null : JSON.stringify(outcome.refusal),
    undeclared_fields: JSON.stringify(outcome.undeclaredFields),
  };
}

function postponeQuery(db: Kysely<Schema>) {
  return once<{ artifact: DbUuid; token: DbUuid; until: number }>()((p) =>
    db
      .updateTable('deliveries')
      .set({ due_at: p.until })
      .where('artifact_id', '=', p.artifact)
      .where('lease_token', '=', p.token),
  );
}

function giveBackQuery(db: Kysely<Schema>) {
  type Back = { artifact: DbUuid; token: DbUuid; due: number; failures: number; crashes: number };
  return once<Back>()((p) =>
    db
      .updateTable('deliveries')
      .set((eb) => ({
        status: 'queued',
        lease_token: null,
        due_at: p.due,
        failures: eb('failures', '+', p.failures),
        crashes: eb('crashes', '+', p.crashes),
      }))
      .where('artifact_id', '=', p.artifact)
      .where('lease_token', '=', p.token),
  );
}

async function stateOf(at: Db, trx: Transaction<Schema>, artifactId: string) {
  const select = trx
    .selectFrom('deliveries')
    .select(['sequence', 'status', 'lease_token', 'crashes'])
    .where('artifact_id', '=', at.dialect.uuid.toDb(artifactId));
  const row = await at.dialect.lockRows(select, 'wait').executeTakeFirst();
  if (!row) throw new CatalogRefusal('delivery_not_found', 'There is no such delivery.');
  return row;
}

const parserCrashed: Rejection = {
  record: null,
  line: null,
  field: null,
  code: 'parser_crashed',
  message: `The parser failed on this delivery ${limits.parserCrashesMax} times.`,
};

async function rejectCrashed(trx: Transaction<Schema>, sequence: number, now: number) {
  const status: DeliveryStatus = 'rejected';
  await trx
    .updateTable('deliveries')
    .set({
      status,
      settled_at: now,
      records: 0,
      parsed: 0,
      rejected: 0,
      samples: 0,
      blank: 0,
      superseded_within: 0,
      refusal: JSON.stringify(parserCrashed),
      undeclared_fields: '[]',
    })
    .where('sequence', '=', sequence)
    .execute();
}

/** One order for all writers, so that none waits for another in a circle. */
function sorted<L extends Lease>(leases: readonly L[]): L[] {
  return [...leases].sort((a, b) => (a.artifactId < b.artifactId ? -1 : 1));
}
