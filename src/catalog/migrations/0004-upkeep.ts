import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './list.ts';

/** The catalog's own id, how far artifacts were checked, and which of them are damaged. */
export const upkeepState: Migration = {
  name: '0004-upkeep',
  async up(trx, dialect) {
    await state(trx, dialect);
    await checks(trx, dialect);
  },
};

async function state(trx: Transaction<Schema>, { types, tableEnd, uuid }: CatalogDialect) {
  await trx.schema
    .createTable('catalog_state')
    .addColumn('only', types.int, (c) => c.primaryKey().check(sql`${sql.ref('only')} = 1`))
    .addColumn('catalog_id', types.uuid, (c) => c.notNull())
    .addColumn('sequence_above', types.int, (c) => c.notNull())
    .addColumn('checked_up_to', types.int, (c) => c.notNull())
    .addColumn('checks_began_at', types.int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx
    .insertInto('catalog_state')
    .values({
      ...{ only: 1, catalog_id: uuid.toDb(randomUUID()) },
      ...{ sequence_above: 0, checked_up_to: 0, checks_began_at: 0 },
    })
    .execute();
}

async function checks(trx: Transaction<Schema>, { types }: CatalogDialect) {
  const { int, text } = types;
  await trx.schema.alterTable('deliveries').addColumn('checked_at', int).execute();
  await trx.schema.alterTable('deliveries').addColumn('damage', text).execute();
  // Holds the damaged ones only: none, as a rule.
  await trx.schema
    .createIndex('deliveries_damaged')
    .on('deliveries')
    .columns(['sequence'])
    .where(sql.ref('damage'), 'is not', null)
    .execute();
}
