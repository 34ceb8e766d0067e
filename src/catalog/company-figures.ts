import { sql } from 'kysely';
import { countedMax } from '../domain/counted.ts';
import type { CheckResult, CompanyFigures, Figures } from './company-figures-contract.ts';
import { allStatuses, sandboxes } from './delivery-pages.ts';
import type { DbBool } from './dialect.ts';
import { rejectedLately } from './rejected.ts';
import type { Db } from './schema.ts';

export type FiguresReads = Omit<CompanyFigures, 'noteCheck'>;
export type FiguresWrites = Pick<CompanyFigures, 'noteCheck'>;

const minuteMs = 60_000;
/** As far back as rates and lags are told. */
export const figureMinutes = 15;
/** Of more deliveries than these the lag is taken of every so-manieth. */
const lagsMax = 1_000;

export function figuresReads(at: Db): FiguresReads {
  const { db, dialect } = at;
  return {
    async figures(companyId, { sandbox, now }) {
      const sources = await sourceIds(at, companyId);
      const of: Of = {
        ...{ at, sources, now },
        sandboxes: sandboxes(dialect, sandbox ? {} : { sandbox: false }),
      };
      const minutes = await minutesOf(of);
      const received = minutes.reduce((sum, one) => sum + one.deliveries, 0);
      return {
        ...{ sources: sources.length, minutes },
        lag: await lagOf(of, received),
        backlog: await backlogOf(of),
        rejected: await rejectedLately(at, { ...of, sources: idsOf(sources) }, now),
      };
    },
    async damaged(companyId, limit) {
      const damaged = db
        .selectFrom('deliveries as d')
        .innerJoin('sources as s', 's.id', 'd.source_id')
        .innerJoin('companies as c', 'c.id', 's.company_id')
        .where('c.uuid', '=', dialect.uuid.toDb(companyId))
        .where('d.damage', 'is not', null);
      const { count } = await damaged
        .select(sql<number>`count(*)`.as('count'))
        .executeTakeFirstOrThrow();
      const rows = await damaged
        .select(['d.artifact_id', 's.uuid', 'd.damage', 'd.checked_at'])
        .orderBy('d.sequence', 'desc')
        .limit(limit)
        .execute();
      const newest = rows.map((row) => ({
        artifactId: dialect.uuid.fromDb(row.artifact_id),
        sourceId: dialect.uuid.fromDb(row.uuid),
        damage: row.damage!,
        checkedAt: row.checked_at!,
      }));
      return { count, newest };
    },
    async round() {
      const { began, over } = await db
        .selectFrom('catalog_state')
        .select([
          'checks_began_at as began',
          sql<number>`checked_up_to >=
            (select coalesce(max(sequence), 0) from deliveries)`.as('over'),
        ])
        .executeTakeFirstOrThrow();
      return began === 0 ? null : { beganAt: began, over: Boolean(over) };
    },
    async checks(companyId) {
      const rows = await db.selectFrom('check_results').selectAll().orderBy('name').execute();
      const own = new Set(
        (await sourceIds(at, companyId)).map((one) => dialect.uuid.fromDb(one.uuid)),
      );
      return rows.map(({ name: check, at: endedAt, ms, swapped, differences }) => {
        const all = Object.entries(JSON.parse(differences) as CheckResult['differences']);
        const counted = all.filter(([source]) => source === '' || own.has(source));
        return {
          ...{ check, at: endedAt, ms, swapped: dialect.bool.fromDb(swapped) },
          differences: counted.reduce((sum, [, count]) => sum + count, 0),
        };
      });
    },
  };
}

export function figuresWrites({ db, dialect }: Db): FiguresWrites {
  return {
    async noteCheck({ check, at, ms, swapped, differences }) {
      const row = {
        ...{ at, ms, swapped: dialect.bool.toDb(swapped) },
        differences: JSON.stringify(differences),
      };
      await db
        .insertInto('check_results')
        .values({ name: check, ...row })
        .onConflict((on) => on.column('name').doUpdateSet(row))
        .execute();
    },
  };
}

interface Of {
  readonly at: Db;
  readonly sources: Awaited<ReturnType<typeof sourceIds>>;
  readonly sandboxes: readonly DbBool[];
  readonly now: number;
}

function sourceIds({ db, dialect }: Db, companyId: string) {
  return db
    .selectFrom('sources as s')
    .innerJoin('companies as c', 'c.id', 's.company_id')
    .select(['s.id', 's.uuid'])
    .where('c.uuid', '=', dialect.uuid.toDb(companyId))
    .execute();
}

/** No source has the id 0; not every database takes a list of none. */
function idsOf(sources: Of['sources']): number[] {
  return [0, ...sources.map((one) => one.id)];
}

/** Deliveries of the company as one index has them, `deliveries_by_status`. */
function deliveriesOf({ at, sources, sandboxes }: Of, statuses = allStatuses) {
  return at.db
    .selectFrom('deliveries')
    .where('source_id', 'in', idsOf(sources))
    .where('sandbox', 'in', sandboxes)
    .where(
      'status',
      'in',
      statuses.map((status) => sql.lit(status)),
    );
}

async function minutesOf(of: Of): Promise<Figures['minutes']> {
  const minutes: { deliveries: number; bytes: number }[] = [];
  for (let minute = 0; minute < figureMinutes; minute++) {
    const before = of.now - minute * minuteMs;
    // What a clock that is ahead received belongs to the newest minute.
    const until = minute === 0 ? Number.MAX_SAFE_INTEGER : before;
    minutes.push(
      await deliveriesOf(of)
        .select([
          sql<number>`count(*)`.as('deliveries'),
          sql<number>`coalesce(sum(bytes), 0)`.as('bytes'),
        ])
        .where('received_at', '>=', before - minuteMs)
        .where('received_at', '<', until)
        .executeTakeFirstOrThrow(),
    );
  }
  return minutes;
}

async function lagOf(of: Of, received: number): Promise<Figures['lag']> {
  const every = Math.max(1, Math.ceil(received / lagsMax));
  const rows = await deliveriesOf(of, ['parsed', 'rejected'])
    .select(sql<number>`settled_at - received_at`.as('ms'))
    .where('received_at', '>=', of.now - figureMinutes * minuteMs)
    .where(sql<number>`sequence % ${sql.lit(every)}`, '=', 0)
    .where('generation', '=', 0)
    .limit(2 * lagsMax)
    .execute();
  // A clock that was set back between the two says nothing.
  const lags = rows.map(({ ms }) => Math.max(0, ms)).sort((a, b) => a - b);
  if (lags.length === 0) return null;
  const rank = (share: number) => lags[Math.ceil(share * lags.length) - 1]!;
  return { lookedAt: lags.length, medianMs: rank(0.5), p95Ms: rank(0.95) };
}

async function backlogOf(of: Of): Promise<Figures['backlog']> {
  const waiting = () => deliveriesOf(of, ['queued', 'parsing']);
  const some = waiting().select('sequence').limit(countedMax.backlog);
  const { deliveries } = await of.at.db
    .selectFrom(some.as('some'))
    .select(sql<number>`count(*)`.as('deliveries'))
    .executeTakeFirstOrThrow();
  if (deliveries === 0) return { deliveries, oldestReceivedAt: null };
  let oldest: number | null = null;
  for (const source of of.sources) {
    for (const status of ['queued', 'parsing'] as const) {
      for (const sandbox of of.sandboxes) {
        const own = { ...of, sources: [source], sandboxes: [sandbox] };
        const first = await deliveriesOf(own, [status])
          .select('received_at')
          .orderBy('received_at')
          .limit(1)
          .executeTakeFirst();
        if (first) oldest = Math.min(first.received_at, oldest ?? first.received_at);
      }
    }
  }
  return { deliveries, oldestReceivedAt: oldest };
}
