import type { Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './list.ts';

/** The app's users: how they are invited, their passkeys, and what they are signed in by. */
export const users: Migration = {
  name: '0007-users',
  async up(trx, dialect) {
    await people(trx, dialect);
    await passkeys(trx, dialect);
    await sessions(trx, dialect);
  },
};

async function people(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { id, uuid, hash, int, text } = types;
  await trx.schema
    .createTable('users')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('uuid', uuid, (c) => c.notNull().unique())
    .addColumn('company_id', int, (c) => c.notNull().references('companies.id'))
    .addColumn('email', text, (c) => c.notNull())
    .addColumn('email_folded', text, (c) => c.notNull())
    .addColumn('permissions', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addUniqueConstraint('users_by_company_id_email', ['company_id', 'email_folded'])
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.schema
    .createTable('invitations')
    .addColumn('hash', hash, (c) => c.notNull().primaryKey())
    .addColumn('user_id', int, (c) => c.notNull().references('users.id'))
    .addColumn('ends_at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.keyed)
    .execute();
  await index(trx, 'invitations', 'user_id');
}

async function passkeys(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { id, uuid, bytes, int, text } = types;
  await trx.schema
    .createTable('passkeys')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('user_id', int, (c) => c.notNull().references('users.id'))
    .addColumn('credential_id', text, (c) => c.notNull().unique())
    .addColumn('public_key', bytes, (c) => c.notNull())
    .addColumn('counter', int, (c) => c.notNull())
    .addColumn('transports', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addColumn('last_used_at', int)
    .modifyEnd(tableEnd.plain)
    .execute();
  await index(trx, 'passkeys', 'user_id');
  await trx.schema
    .createTable('challenges')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('challenge', text, (c) => c.notNull().unique())
    .addColumn('purpose', text, (c) => c.notNull())
    .addColumn('user_uuid', uuid)
    .addColumn('ends_at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
  await index(trx, 'challenges', 'ends_at');
}

async function sessions(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { hash, int } = types;
  await trx.schema
    .createTable('sessions')
    .addColumn('hash', hash, (c) => c.notNull().primaryKey())
    .addColumn('user_id', int, (c) => c.notNull().references('users.id'))
    .addColumn('signed_in_at', int, (c) => c.notNull())
    .addColumn('ends_at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.keyed)
    .execute();
  await index(trx, 'sessions', 'user_id');
  await index(trx, 'sessions', 'ends_at');
}

async function index(trx: Transaction<Schema>, table: string, column: string) {
  await trx.schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute();
}
