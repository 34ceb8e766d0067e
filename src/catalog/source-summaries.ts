import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { countedMax } from '../domain/counted.ts';
import { exposedField } from '../domain/personal.ts';
import { stillExposed } from './next-generation.ts';
import { ofSourceAfter, ofSourceBefore } from './of-source.ts';
import { rejectedLately } from './rejected.ts';
import { selectShapes, selectSources, shapeOf, sourceOf } from './rows.ts';
import type { Db } from './schema.ts';
import type { SourceSummaries, SourceSummary } from './source-summaries-contract.ts';

/** Deliveries that are looked at without a pause. */
const exposedPage = 5_000;

export function sourceSummaries(at: Db): SourceSummaries {
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

async function standing(at: Db, id: number, now: number) {
  const { db, dialect } = at;
  const last = await db
    .selectFrom('deliveries')
    .select(['received_at', 'sandbox'])
    .where(ofSourceBefore(id))
    .orderBy('source_id', 'desc')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  const waiting = db
    .selectFrom('deliveries')
    .select('sequence')
    .where('source_id', '=', id)
    .where('sandbox', 'in', [dialect.bool.toDb(false), dialect.bool.toDb(true)])
    .where('status', 'in', ['queued', 'parsing'])
    .limit(countedMax.backlog);
  const { backlog } = await db
    .selectFrom(waiting.as('w'))
    .select(sql<number>`count(*)`.as('backlog'))
    .executeTakeFirstOrThrow();
  const rejected = (sandbox: boolean) =>
    rejectedLately(at, { sources: [id], sandboxes: [dialect.bool.toDb(sandbox)] }, now);
  return {
    lastDelivery: last
      ? { receivedAt: last.received_at, sandbox: dialect.bool.fromDb(last.sandbox) }
      : null,
    backlog,
    rejected: await rejected(false),
    rejectedSandbox: await rejected(true),
  };
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
    .select([
      'sequence',
      sql<number>`case when ${stillExposed(versions)} then 1 else 0 end`.as('exposed'),
    ])
    .where(ofSourceAfter(id, after))
    .orderBy('source_id')
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
