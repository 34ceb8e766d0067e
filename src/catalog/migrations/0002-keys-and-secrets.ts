import type { Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './list.ts';

/** Rotation and demo keys, signing secrets and which of them verified a delivery, the audit log. */
export const keysAndSecrets: Migration = {
  name: '0002-keys-and-secrets',
  async up(trx, dialect) {
    await keys(trx, dialect);
    await secrets(trx, dialect);
    await audit(trx, dialect);
  },
};

async function keys(trx: Transaction<Schema>, { types, bool }: CatalogDialect) {
  await trx.schema
    .alterTable('access_keys')
    .addColumn('demo', types.bool, (c) => c.notNull().defaultTo(bool.toDb(false)))
    .execute();
  await trx.schema.alterTable('access_keys').addColumn('rotated_to', types.uuid).execute();
}

async function secrets(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { id, uuid, bytes, int } = types;
  await trx.schema
    .createTable('signing_secrets')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('uuid', uuid, (c) => c.notNull().unique())
    .addColumn('source_id', int, (c) => c.notNull().references('sources.id'))
    .addColumn('sealed', bytes, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addColumn('ends_at', int)
    .addColumn('last_used_at', int)
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.schema
    .createIndex('signing_secrets_by_source_id_id')
    .on('signing_secrets')
    .columns(['source_id', 'id'])
    .execute();
  await trx.schema
    .alterTable('deliveries')
    .addColumn('secret_id', uuid, (c) => c.references('signing_secrets.uuid'))
    .execute();
}

async function audit(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { id, int, text } = types;
  await trx.schema
    .createTable('audit_log')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('at', int, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('action', text, (c) => c.notNull())
    .addColumn('about', text, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
}
