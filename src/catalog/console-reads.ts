import { setImmediate } from 'node:timers/promises';
import { type Expression, type SqlBool, sql } from 'kysely';
import { exposedField } from '../domain/personal.ts';
import {
  backlogCountedMax,
  type Console,
  type RejectedLately,
  type SourceSummary,
} from './console-contract.ts';
import { stillExposed } from './next-generation.ts';
import { selectShapes, selectSources, shapeOf, sourceOf } from './rows.ts';
import type { Db } from './schema.ts';

const dayMs = 86_400_000;
/** Deliveries that are looked at without a pause. */
const exposedPage = 5_000;

export function consoleReads(at: Db): Console {
  const { db, dialect } = at;
  const uuid = dialect.uuid.toDb;
  return {
    async sources(companyId, now) {
      const rows = await selectSources(db)
        .select(['s.id', 's.created_at'])
        .where('c.uuid', '=', uuid(companyId))
        .orderBy(sql`lower(s.name)`)
        .orderBy('s.id')
        .execute();
      const summaries: SourceSummary[] = [];
      for (const row of rows) {
        const [source, createdAt] = [sourceOf(at, row), row.created_at];
        summaries.push({ ...source, createdAt, ...(await standing(at, row.id, now)) });
      }
      return summaries;
    },
    async shapes(sourceId, page) {
      let select = selectShapes(db)
        .innerJoin('sources as s', 's.id', 'v.source_id')
        .where('s.uuid', '=', uuid(sourceId))
        .orderBy('v.version', 'desc')
        .limit(page.limit);
      if (page.before !== undefined) select = select.where('v.version', '<', page.before);
      return (await select.execute()).map(shapeOf);
    },
    exposed: (sourceId, personal) => exposed(at, sourceId, personal),
  };
}

async function standing({ db, dialect }: Db, id: number, now: number) {
  const last = await db
    .selectFrom('deliveries')
    .select(['received_at', 'sandbox'])
    .where('source_id', '=', id)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  const waiting = (condition: Expression<SqlBool>) =>
    db
      .selectFrom('deliveries')
      .select('sequence')
      .where('source_id', '=', id)
      .where(condition)
      .limit(backlogCountedMax);
  // Each of the two has an index of its own.
  const first = sql<SqlBool>`settled_at is null and next_generation is null`;
  const next = sql<SqlBool>`next_generation is not null`;
  const counted = await db
    .selectFrom(waiting(first).as('f'))
    .select(sql<number>`count(*)`.as('first'))
    .select((eb) =>
      eb.selectFrom(waiting(next).as('n')).select(sql<number>`count(*)`.as('n')).as('next'),
    )
    .executeTakeFirstOrThrow();
  return {
    lastDelivery: last
      ? { receivedAt: last.received_at, sandbox: dialect.bool.fromDb(last.sandbox) }
      : null,
    backlog: Math.min(backlogCountedMax, counted.first + (counted.next ?? 0)),
    ...(await rejectedLately({ db, dialect }, id, now)),
  };
}

async function rejectedLately({ db, dialect }: Db, id: number, now: number) {
  const rows = await db
    .selectFrom('deliveries')
    .select([
      'sandbox',
      sql<number>`sum(rejected)`.as('records'),
      sql<number>`sum(status = 'rejected')`.as('deliveries'),
    ])
    .where('source_id', '=', id)
    .where('received_at', '>=', now - dayMs)
    // As the partial index has it, word for word.
    .where(sql<SqlBool>`(rejected > 0 or status = 'rejected')`)
    .groupBy('sandbox')
    .execute();
  const of = (sandbox: boolean): RejectedLately => {
    const row = rows.find((one) => dialect.bool.fromDb(one.sandbox) === sandbox);
    return { records: row?.records ?? 0, deliveries: row?.deliveries ?? 0 };
  };
  return { rejected: of(false), rejectedSandbox: of(true) };
}

async function exposed({ db, dialect }: Db, sourceId: string, personal: readonly string[]) {
  const shapes = await selectShapes(db)
    .innerJoin('sources as s', 's.id', 'v.source_id')
    .select('s.id')
    .where('s.uuid', '=', dialect.uuid.toDb(sourceId))
    .execute();
  const versions = shapes
    .filter((row) => exposedField(shapeOf(row).fields, personal) !== null)
    .map((row) => row.version);
  if (versions.length === 0) return 0;
  let found = 0;
  for (let after: number | null = 0; after !== null; ) {
    const page = await exposedAfter(db, shapes[0]!.id, versions, after);
    found += page.count;
    after = page.last;
    await setImmediate();
  }
  return found;
}

/** Of the next deliveries of a source: how many are exposed, and the last one's sequence. */
async function exposedAfter(
  db: Db['db'],
  id: number,
  versions: readonly number[],
  after: number,
): Promise<{ count: number; last: number | null }> {
  const page = db
    .selectFrom('deliveries')
    .select(['sequence', sql<number>`${stillExposed(versions)}`.as('exposed')])
    .where('source_id', '=', id)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(exposedPage);
  return await db
    .selectFrom(page.as('p'))
    .select([
      sql<number>`coalesce(sum(exposed), 0)`.as('count'),
      sql<number | null>`max(sequence)`.as('last'),
    ])
    .executeTakeFirstOrThrow();
}
