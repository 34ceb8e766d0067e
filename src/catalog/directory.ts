import { type Kysely, sql, type Transaction } from 'kysely';
import { compareUtf8 } from '../domain/labels.ts';
import type { AccessKey, Field, Metric, Source } from '../domain/nouns.ts';
import { validateShape } from '../domain/shapes.ts';
import { CatalogRefusal, type Directory, type NewKey, type NewSource } from './catalog.ts';
import {
  companyOf,
  keyOf,
  metricOf,
  selectCompanies,
  selectKeys,
  selectMetrics,
  selectShapes,
  selectSources,
  shapeOf,
  sourceOf,
} from './rows.ts';
import type { Db, Schema } from './schema.ts';

export type DirectoryReads = Pick<Directory, 'company' | 'metrics' | 'source' | 'keys'>;
export type DirectoryWrites = Omit<Directory, keyof DirectoryReads>;

export function directoryReads(at: Db): DirectoryReads {
  const { db, dialect } = at;
  const uuid = dialect.uuid.toDb;
  return {
    async company(companyId) {
      const select = selectCompanies(db).where('c.uuid', '=', uuid(companyId));
      const row = await select.executeTakeFirst();
      return row ? companyOf(at, row) : null;
    },
    async metrics(companyId) {
      const rows = await selectMetrics(db)
        .innerJoin('companies as c', 'c.id', 'm.company_id')
        .where('c.uuid', '=', uuid(companyId))
        .orderBy('m.id')
        .execute();
      return rows.map(metricOf);
    },
    async source(sourceId) {
      return sourceIn(at, db, sourceId);
    },
    async keys(sourceId) {
      const select = selectKeys(db).where('s.uuid', '=', uuid(sourceId)).orderBy('k.id');
      return (await select.execute()).map((row) => keyOf(at, row));
    },
  };
}

/** Each is one transaction; rules of DECISIONS 1 that need the catalog are judged inside it. */
export function directoryWrites(at: Db): DirectoryWrites {
  const transact = <T>(work: (trx: Transaction<Schema>) => Promise<T>) =>
    at.db.transaction().execute(work);
  const uuid = at.dialect.uuid.toDb;
  return {
    createCompany: (company, now) =>
      transact(async (trx) => {
        const taken = selectCompanies(trx).where('c.uuid', '=', uuid(company.companyId));
        if (await taken.executeTakeFirst())
          refuse('company_exists', 'This company exists already.');
        const { name, timezone } = company;
        const row = { uuid: uuid(company.companyId), name, timezone, created_at: now };
        await trx.insertInto('companies').values(row).execute();
      }),
    declareMetric: (companyId, metric, now) =>
      transact((trx) => declareMetric(at, trx, companyId, metric, now)),
    createSource: (source, now) => transact((trx) => createSource(at, trx, source, now)),
    saveSource: (sourceId, save, now) =>
      transact(async (trx) => {
        const source = await lockSource(at, trx, sourceId);
        const current = shapeOf(
          await selectShapes(trx)
            .where('v.source_id', '=', source.id)
            .where('v.version', '=', source.current_version)
            .executeTakeFirstOrThrow(),
        );
        const fields = save.fields ?? current.fields;
        await judgeShape(trx, source.company_id, fields);
        const version = source.current_version + 1;
        await insertShape(trx, source.id, version, { ...current, ...defined(save), fields }, now);
        await trx
          .updateTable('sources')
          .set({ current_version: version, name: save.name ?? source.name })
          .where('id', '=', source.id)
          .execute();
        return (await sourceIn(at, trx, sourceId))!;
      }),
    createKey: (key, now) => transact((trx) => createKey(at, trx, key, now)),
    revokeKey: (keyId, now) =>
      transact(async (trx) => {
        await trx
          .updateTable('access_keys')
          .set({ revoked_at: sql<number>`coalesce(revoked_at, ${now})` })
          .where('uuid', '=', uuid(keyId))
          .execute();
        const key = await keyIn(at, trx, keyId);
        return key ?? refuse('key_not_found', 'There is no such key.');
      }),
  };
}

async function declareMetric(
  at: Db,
  trx: Transaction<Schema>,
  companyId: string,
  metric: Metric,
  now: number,
): Promise<void> {
  const company = await lockCompany(at, trx, companyId);
  const { key, name, unit } = metric;
  const labels = JSON.stringify([...metric.labels].sort(compareUtf8));
  const known = await trx
    .selectFrom('metrics')
    .select(['id', 'labels'])
    .where('company_id', '=', company.id)
    .where('key', '=', key)
    .executeTakeFirst();
  if (!known) {
    const row = { company_id: company.id, key, name, unit, labels, declared_at: now };
    await trx.insertInto('metrics').values(row).execute();
    return;
  }
  if (known.labels !== labels) {
    refuse('metric_labels_differ', "A metric's labels never change.", 'labels');
  }
  await trx.updateTable('metrics').set({ name, unit }).where('id', '=', known.id).execute();
}

async function createSource(
  at: Db,
  trx: Transaction<Schema>,
  source: NewSource,
  now: number,
): Promise<Source> {
  const company = await lockCompany(at, trx, source.companyId);
  if (await sourceIn(at, trx, source.sourceId)) {
    refuse('source_exists', 'This source exists already.');
  }
  await judgeShape(trx, company.id, source.fields);
  const { id } = await trx
    .insertInto('sources')
    .values({
      uuid: at.dialect.uuid.toDb(source.sourceId),
      company_id: company.id,
      name: source.name,
      current_version: 1,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await insertShape(trx, id, 1, source, now);
  return (await sourceIn(at, trx, source.sourceId))!;
}

async function createKey(
  at: Db,
  trx: Transaction<Schema>,
  key: NewKey,
  now: number,
): Promise<AccessKey> {
  const source = await lockSource(at, trx, key.sourceId);
  const uuid = at.dialect.uuid.toDb(key.keyId);
  const taken = await trx
    .selectFrom('access_keys')
    .select('id')
    .where((eb) => eb.or([eb('uuid', '=', uuid), eb('hash', '=', key.hash)]))
    .executeTakeFirst();
  if (taken) refuse('key_exists', 'This key exists already.');
  await trx
    .insertInto('access_keys')
    .values({
      uuid,
      source_id: source.id,
      hash: key.hash,
      scope: key.scope,
      sandbox: at.dialect.bool.toDb(key.sandbox),
      created_at: now,
      expires_at: key.expiresAt,
      last_used_at: null,
      revoked_at: null,
    })
    .execute();
  return (await keyIn(at, trx, key.keyId))!;
}

/** Declarations and saves of one company or source come one after another. */
async function lockCompany(at: Db, trx: Transaction<Schema>, companyId: string) {
  const select = selectCompanies(trx).where('c.uuid', '=', at.dialect.uuid.toDb(companyId));
  const row = await at.dialect.lockRows(select, 'wait').executeTakeFirst();
  return row ?? refuse('company_not_found', 'There is no such company.');
}

async function lockSource(at: Db, trx: Transaction<Schema>, sourceId: string) {
  const select = trx
    .selectFrom('sources')
    .select(['id', 'company_id', 'name', 'current_version'])
    .where('uuid', '=', at.dialect.uuid.toDb(sourceId));
  const row = await at.dialect.lockRows(select, 'wait').executeTakeFirst();
  return row ?? refuse('source_not_found', 'There is no such source.');
}

async function judgeShape(trx: Transaction<Schema>, companyId: number, fields: readonly Field[]) {
  const metrics = await selectMetrics(trx).where('m.company_id', '=', companyId).execute();
  const problem = validateShape(fields, metrics.map(metricOf));
  if (problem) refuse(problem.code, problem.message, problem.field ?? undefined);
}

async function insertShape(
  trx: Transaction<Schema>,
  sourceId: number,
  version: number,
  shape: Pick<NewSource, 'delivery' | 'format' | 'fields' | 'savedBy'>,
  now: number,
) {
  await trx
    .insertInto('shape_versions')
    .values({
      source_id: sourceId,
      version,
      delivery: shape.delivery,
      format: shape.format,
      fields: JSON.stringify(shape.fields),
      saved_at: now,
      saved_by: shape.savedBy,
    })
    .execute();
}

async function sourceIn(at: Db, db: Kysely<Schema>, sourceId: string): Promise<Source | null> {
  const select = selectSources(db).where('s.uuid', '=', at.dialect.uuid.toDb(sourceId));
  const row = await select.executeTakeFirst();
  return row ? sourceOf(at, row) : null;
}

async function keyIn(at: Db, db: Kysely<Schema>, keyId: string): Promise<AccessKey | null> {
  const select = selectKeys(db).where('k.uuid', '=', at.dialect.uuid.toDb(keyId));
  const row = await select.executeTakeFirst();
  return row ? keyOf(at, row) : null;
}

/** Without the properties that are there but undefined: they mean "as it is". */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function refuse(code: string, message: string, field?: string): never {
  throw new CatalogRefusal(code, message, field);
}
