import { randomUUID } from 'node:crypto';
import { type Kysely, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import { limits } from '../domain/limits.ts';
import type { DeliveryStatus, Rejection } from '../domain/nouns.ts';
import { CatalogRefusal, type Job, type Lease, type Queue } from './catalog.ts';
import { completeOn, outdatedBy } from './complete.ts';
import type { DbUuid } from './dialect.ts';
import { jobsOf } from './jobs.ts';
import { freshNumber, putNext } from './next-generation.ts';
import { once } from './once.ts';
import { raiseSamplesVersions } from './samples-versions.ts';
import type { Db, Schema } from './schema.ts';

/**
 * The parse queue over the rows of `deliveries` whose `settled_at` is null.
 *
 *   queued   waits; `due_at`: not before. Entered by the ledger, `release`, `crashed`.
 *   parsing  leased; `lease_token`: whose, `due_at`: until when. Entered by `claim`; a claim takes
 *            it again when `due_at` has passed, and counts a failure.
 *   parsed, rejected   `settled_at` set, no token. Entered by `complete` and `crashed`; left again
 *            for a next generation (`next-generation.ts`): what stands stays until that is there.
 *
 * Ordering: whoever holds the current token decides, even when its lease has run out, as long as
 * nobody else has claimed, on the generation that it claimed.
 */
export function queueOn(at: Db): Queue {
  const { db, dialect } = at;
  const complete = completeOn(at);
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
    complete: (outcomes, now) => transact((trx) => complete(trx, sorted(outcomes), now)),
    release: (leases, notBefore) =>
      transact(async (trx) => {
        const set = { due: notBefore, failures: 1, crashes: 0 };
        const outdated: { artifactId: string; generation: number }[] = [];
        for (const one of sorted(leases)) {
          if ((await giveBack.run(trx, { ...lease(one), ...set })).changed === 1) continue;
          const generation = await outdatedBy(at, trx, one);
          if (generation !== null) outdated.push({ artifactId: one.artifactId, generation });
        }
        return outdated;
      }),
    crashed: (one, now) =>
      transact(async (trx) => {
        const row = await stateOf(at, trx, one.artifactId);
        if (row.lease_token === null || dialect.uuid.fromDb(row.lease_token) !== one.token) {
          return row.status;
        }
        await giveBack.run(trx, { ...lease(one), due: now, failures: 0, crashes: 1 });
        if (row.crashes + 1 < limits.parserCrashesMax) return 'queued';
        if (row.next_generation === null && row.failures === 0) {
          await rejectCrashed(trx, row.sequence, now);
          await raiseSamplesVersions(trx, [row.source_id], now);
          return 'rejected';
        }
        // An attempt before may have inserted rows: they are to be settled away.
        const next = { generation: await freshNumber(trx, now), refusal: parserCrashed };
        await putNext(trx, next, { sequences: [row.sequence] });
        return 'queued';
      }),
    async backlog() {
      const { deliveries, oldest } = await backlogQuery(db, 'first').executeTakeFirstOrThrow();
      const again = await backlogQuery(db, 'next').executeTakeFirstOrThrow();
      return { deliveries: deliveries + again.deliveries, oldestReceivedAt: oldest };
    },
  };
}

export function backlogQuery(db: Kysely<Schema>, which: 'first' | 'next') {
  const waiting = db
    .selectFrom('deliveries')
    .select([sql<number>`count(*)`.as('deliveries'), sql<number>`min(received_at)`.as('oldest')]);
  return waitingFor(waiting, which);
}

type Want = Parameters<Queue['claim']>[0];

async function nothingDue(db: Kysely<Schema>, now: number): Promise<boolean> {
  for (const which of ['first', 'next'] as const) {
    if ((await dueQuery(db, which, now, 1).execute()).length > 0) return false;
  }
  return true;
}

/**
 * What may be claimed, in accepted order: for its first generation, or for a next one.
 *
 * What is put off further than anybody puts off was put off by a clock that was ahead and has been
 * set back since: it would wait for as long as that clock was ahead, and waits no more.
 */
export function dueQuery(db: Kysely<Schema>, which: 'first' | 'next', now: number, limit: number) {
  const due = db
    .selectFrom('deliveries')
    .select(['sequence', 'bytes'])
    .where((eb) => eb.not(eb.between('due_at', now + 1, now + limits.queueAheadMsMax)))
    .orderBy('sequence')
    .limit(limit);
  return waitingFor(due, which);
}

/** Each of the two is a partial index that holds every column that is asked for. */
function waitingFor<O>(
  select: SelectQueryBuilder<Schema, 'deliveries', O>,
  which: 'first' | 'next',
): SelectQueryBuilder<Schema, 'deliveries', O> {
  return which === 'first'
    ? select.where('settled_at', 'is', null).where('next_generation', 'is', null)
    : select.where('next_generation', 'is not', null);
}

async function claim(at: Db, trx: Transaction<Schema>, want: Want): Promise<Job[]> {
  const due = (which: 'first' | 'next', limit: number) =>
    at.dialect.lockRows(dueQuery(trx, which, want.now, limit), 'skip').execute();
  const share = { limit: Math.ceil(want.limit / 4), bytesMax: want.bytesMax / 4 };
  const next = taken(await due('next', share.limit), share.bytesMax);
  const rest = { limit: want.limit - next.sequences.length, bytesMax: want.bytesMax - next.bytes };
  const first =
    rest.limit > 0 && (rest.bytesMax > 0 || next.sequences.length === 0)
      ? taken(await due('first', rest.limit), rest.bytesMax, next.sequences.length === 0)
      : noneTaken;
  const sequences = [...next.sequences, ...first.sequences];
  if (sequences.length === 0) return [];
  const token = randomUUID();
  // Taken once for each generation: a second attempt must see what the first one saw, for rows
  // of the first may be in the sample store already.
  const newest = sql<number>`(select coalesce(max(m.id), 0) from metrics as m
    join sources as s on s.company_id = m.company_id where s.id = deliveries.source_id)`;
  await trx
    .updateTable('deliveries')
    .set({
      status: 'parsing',
      lease_token: at.dialect.uuid.toDb(token),
      due_at: want.now + want.leaseMs,
      // A delivery that is still `parsing` here has a lease that ran out.
      failures: sql<number>`failures + case when status = 'parsing' then 1 else 0 end`,
      metrics_up_to: sql<number>`case when next_generation is null
        then coalesce(metrics_up_to, ${newest}) else metrics_up_to end`,
      next_metrics_up_to: sql<number>`case when next_generation is null
        then null else coalesce(next_metrics_up_to, ${newest}) end`,
    })
    .where('sequence', 'in', sequences)
    .execute();
  return jobsOf(at, trx, sequences, token);
}

const noneTaken = { sequences: [] as number[], bytes: 0 };

/** Rows from the first on, as many as the bytes allow; a first one that is larger, if it may be. */
function taken(
  due: readonly { sequence: number; bytes: number }[],
  bytesMax: number,
  firstAlways = true,
): typeof noneTaken {
  const sequences: number[] = [];
  let bytes = 0;
  for (const row of due) {
    const fits = bytes + row.bytes <= bytesMax || (firstAlways && sequences.length === 0);
    if (!fits) break;
    bytes += row.bytes;
    sequences.push(row.sequence);
  }
  return { sequences, bytes };
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
    .select(['sequence', 'source_id', 'status', 'lease_token', 'crashes', 'failures'])
    .select('next_generation')
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
