import type { Transaction } from 'kysely';
import { compareUtf8 } from '../domain/labels.ts';
import type { Field, Metric } from '../domain/nouns.ts';
import { validateShape } from '../domain/shapes.ts';
import {
  CatalogRefusal,
  type Directory,
  type NewSecret,
  type NewSource,
  type SavedSource,
  type SourceSave,
} from './catalog.ts';
import { createKey, keyIn, noteUses, revokeKey, rotateKey } from './keys.ts';
import { lockCompany, lockSource, sourceIn } from './locks.ts';
import {
  companyOf,
  keyOf,
  metricOf,
  secretColumns,
  secretOf,
  selectCompanies,
  selectKeys,
  selectMetrics,
  selectShapes,
  shapeOf,
} from './rows.ts';
import type { Db, Schema } from './schema.ts';
import { endSecrets, insertSecret, rotateSecrets } from './secrets.ts';
import { withdraw } from './withdraw.ts';

export type DirectoryReads = Pick<
  Directory,
  'company' | 'metrics' | 'source' | 'key' | 'keys' | 'secrets' | 'someCurrentSecret'
>;
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
    async key(keyId) {
      return keyIn(at, db, keyId);
    },
    async keys(sourceId) {
      const select = selectKeys(db).where('s.uuid', '=', uuid(sourceId)).orderBy('k.id');
      return (await select.execute()).map((row) => keyOf(at, row));
    },
    async secrets(sourceId) {
      const rows = await db
        .selectFrom('signing_secrets as g')
        .innerJoin('sources as s', 's.id', 'g.source_id')
        .select(secretColumns)
        .where('s.uuid', '=', uuid(sourceId))
        .orderBy('g.id', 'desc')
        .execute();
      return rows.map((row) => secretOf(at, row));
    },
    async someCurrentSecret() {
      const row = await db
        .selectFrom('signing_secrets as g')
        .select(secretColumns)
        .where('g.ends_at', 'is', null)
        .orderBy('g.id')
        .limit(1)
        .executeTakeFirst();
      return row ? secretOf(at, row) : null;
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
      transact((trx) => saveSource(at, trx, sourceId, save, now)),
    createKey: (key, now) => transact((trx) => createKey(at, trx, key, now)),
    revokeKey: (keyId, now) => transact((trx) => revokeKey(at, trx, keyId, now)),
    rotateKey: (keyId, next, now) => transact((trx) => rotateKey(at, trx, keyId, next, now)),
    async noteUses({ keys, secrets }) {
      if (keys.length + secrets.length === 0) return;
      await transact(async (trx) => {
        await noteUses(at, trx, 'access_keys', keys);
        await noteUses(at, trx, 'signing_secrets', secrets);
      });
    },
    rotateSecret: (sourceId, secret, oldEndsAt, now) =>
      transact(async (trx) => {
        const { id } = await lockSource(at, trx, sourceId);
        const source = await sourceIn(at, trx, sourceId);
        if (source?.delivery !== 'webhook') {
          refuse('not_a_webhook_source', 'Only a webhook source has signing secrets.');
        }
        await rotateSecrets(trx, id, oldEndsAt, now);
        await insertSecret(at, trx, id, secret, now);
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
): Promise<SavedSource> {
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
  const secretTaken = source.delivery === 'webhook';
  if (secretTaken) await insertSecret(at, trx, id, needed(source.secret), now);
  return { ...(await sourceIn(at, trx, source.sourceId))!, secretTaken, withdrawn: null };
}

async function saveSource(
  at: Db,
  trx: Transaction<Schema>,
  sourceId: string,
  save: SourceSave,
  now: number,
): Promise<SavedSource> {
  const source = await lockSource(at, trx, sourceId);
  if (save.basedOn !== undefined && save.basedOn !== source.current_version) {
    const message = `Version ${source.current_version} was saved in the meantime.`;
    refuse('version_outdated', message, 'based_on');
  }
  const current = shapeOf(
    await selectShapes(trx)
      .where('v.source_id', '=', source.id)
      .where('v.version', '=', source.current_version)
      .executeTakeFirstOrThrow(),
  );
  const next = { ...current, ...defined(save) };
  await judgeShape(trx, source.company_id, next.fields);
  const version = source.current_version + 1;
  await insertShape(trx, source.id, version, next, now);
  await trx
    .updateTable('sources')
    .set({ current_version: version, name: save.name ?? source.name })
    .where('id', '=', source.id)
    .execute();
  const [was, is] = [current.delivery === 'webhook', next.delivery === 'webhook'];
  if (was && !is) await endSecrets(trx, source.id, now);
  if (is && !was) await insertSecret(at, trx, source.id, needed(save.secret), now);
  const withdrawn = await withdraw(trx, source.id, next.fields, now);
  const secretTaken = is && !was;
  return { ...(await sourceIn(at, trx, sourceId))!, secretTaken, withdrawn };
}

function needed(secret: NewSecret | undefined): NewSecret {
  return secret ?? refuse('secret_needed', 'A webhook source needs a signing secret.');
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

/** Without the properties that are there but undefined: they mean "as it is". */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function refuse(code: string, message: string, field?: string): never {
  throw new CatalogRefusal(code, message, field);
}
