import type { Kysely, Transaction } from 'kysely';
import type { Source } from '../domain/nouns.ts';
import { CatalogRefusal } from './catalog.ts';
import { selectCompanies, selectSources, sourceOf } from './rows.ts';
import type { Db, Schema } from './schema.ts';

/** Declarations and saves of one company or source come one after another. */

/** @throws CatalogRefusal `company_not_found` */
export async function lockCompany(at: Db, trx: Transaction<Schema>, companyId: string) {
  const select = selectCompanies(trx).where('c.uuid', '=', at.dialect.uuid.toDb(companyId));
  const row = await at.dialect.lockRows(select, 'wait').executeTakeFirst();
  if (!row) throw new CatalogRefusal('company_not_found', 'There is no such company.');
  return row;
}

/** @throws CatalogRefusal `source_not_found` */
export async function lockSource(at: Db, trx: Transaction<Schema>, sourceId: string) {
  const select = trx
    .selectFrom('sources')
    .select(['id', 'company_id', 'name', 'current_version'])
    .where('uuid', '=', at.dialect.uuid.toDb(sourceId));
  const row = await at.dialect.lockRows(select, 'wait').executeTakeFirst();
  if (!row) throw new CatalogRefusal('source_not_found', 'There is no such source.');
  return row;
}

export async function sourceIn(
  at: Db,
  db: Kysely<Schema>,
  sourceId: string,
): Promise<Source | null> {
  const select = selectSources(db).where('s.uuid', '=', at.dialect.uuid.toDb(sourceId));
  const row = await select.executeTakeFirst();
  return row ? sourceOf(at, row) : null;
}
