import { sql, type Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './list.ts';

/** What lists of deliveries, their counts and a company's figures are read by; check results. */
export const deliveryPages: Migration = {
  name: '0008-delivery-pages',
  async up(trx, dialect) {
    await lists(trx);
    await conflicts(trx, dialect);
    await checks(trx, dialect);
  },
};

/** They hold every column that choosing and summing need, so that no wide row is read for it. */
async function lists(trx: Transaction<Schema>) {
  await trx.schema
    .createIndex('deliveries_by_status')
    .on('deliveries')
    .columns(['source_id', 'sandbox', 'status', 'received_at', 'sequence', 'bytes', 'settled_at'])
    .execute();
  await trx.schema
    .createIndex('deliveries_with_rejections')
    .on('deliveries')
    .columns(['source_id', 'sandbox', 'received_at', 'rejected'])
    .where(sql.ref('rejected'), '>', sql.lit(0))
    .execute();
}

/** Conflicts know where their delivery stands in a list: neither ever changes. */
async function conflicts(trx: Transaction<Schema>, { types }: CatalogDialect) {
  for (const name of ['source_id', 'received_at']) {
    await trx.schema
      .alterTable('delivery_conflicts')
      .addColumn(name, types.int, (c) => c.notNull().defaultTo(0))
      .execute();
  }
  const of = (name: 'source_id' | 'received_at') =>
    sql<number>`(select d.${sql.ref(name)} from deliveries as d
      where d.sequence = delivery_conflicts.sequence)`;
  await trx
    .updateTable('delivery_conflicts')
    .set({ source_id: of('source_id'), received_at: of('received_at') })
    .execute();
  await trx.schema
    .createIndex('delivery_conflicts_by_source')
    .on('delivery_conflicts')
    .columns(['source_id', 'received_at', 'sequence'])
    .execute();
}

async function checks(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { text, int, bool } = types;
  await trx.schema
    .createTable('check_results')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('at', int, (c) => c.notNull())
    .addColumn('ms', int, (c) => c.notNull())
    .addColumn('swapped', bool, (c) => c.notNull())
    .addColumn('differences', text, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
}
