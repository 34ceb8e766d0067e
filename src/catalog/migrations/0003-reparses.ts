import { sql, type Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './list.ts';

/** The generation that a delivery waits for beside the one that stands, and the turns to settle. */
export const reparses: Migration = {
  name: '0003-reparses',
  async up(trx, dialect) {
    await nextGenerations(trx, dialect);
    await waiting(trx);
    await turns(trx, dialect);
  },
};

async function nextGenerations(trx: Transaction<Schema>, { types }: CatalogDialect) {
  const { int, text } = types;
  for (const name of ['next_generation', 'next_shape_version', 'next_metrics_up_to']) {
    await trx.schema.alterTable('deliveries').addColumn(name, int).execute();
  }
  await trx.schema.alterTable('deliveries').addColumn('next_refusal', text).execute();
  await trx.schema
    .alterTable('sources')
    .addColumn('reparsed_up_to', int, (c) => c.notNull().defaultTo(0))
    .execute();
}

/** Two queues: however many deliveries are parsed again, a new one is found at once. */
async function waiting(trx: Transaction<Schema>) {
  const columns = ['sequence', 'due_at', 'bytes', 'received_at', 'settled_at'];
  await trx.schema.dropIndex('deliveries_waiting').execute();
  await trx.schema
    .createIndex('deliveries_waiting')
    .on('deliveries')
    .columns([...columns, 'next_generation'])
    .where(sql.ref('settled_at'), 'is', null)
    .where(sql.ref('next_generation'), 'is', null)
    .execute();
  await trx.schema
    .createIndex('deliveries_reparsing')
    .on('deliveries')
    .columns([...columns, 'next_generation', 'source_id'])
    .where(sql.ref('next_generation'), 'is not', null)
    .execute();
  await trx.schema
    .createIndex('deliveries_rejected')
    .on('deliveries')
    .columns(['source_id', 'sequence', 'status', 'settled_at'])
    .where(sql.ref('status'), '=', sql.lit('rejected'))
    .execute();
}

async function turns(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { uuid, int, text } = types;
  await trx.schema
    .createTable('counters')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('value', int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.insertInto('counters').values({ name: 'generation', value: 0 }).execute();
  await trx.schema
    .createTable('settle_turns')
    .addColumn('source_id', int, (c) => c.notNull().primaryKey())
    .addColumn('token', uuid, (c) => c.notNull())
    .addColumn('until_at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
}
