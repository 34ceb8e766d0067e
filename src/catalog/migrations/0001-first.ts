import { type CreateTableBuilder, sql, type Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { Migration } from './list.ts';

/** Companies, metrics, sources, shape versions, keys, deliveries with their names and conflicts. */
export const first: Migration = {
  name: '0001-first',
  async up(trx, dialect) {
    await directory(trx, dialect);
    await deliveries(trx, dialect);
    await names(trx, dialect);
  },
};

async function directory(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { id, uuid, hash, bool, int, text } = types;
  await trx.schema
    .createTable('companies')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('uuid', uuid, (c) => c.notNull().unique())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('timezone', text, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.schema
    .createTable('metrics')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('company_id', int, (c) => c.notNull().references('companies.id'))
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('unit', text, (c) => c.notNull())
    .addColumn('labels', text, (c) => c.notNull())
    .addColumn('declared_at', int, (c) => c.notNull())
    .addUniqueConstraint('metrics_key', ['company_id', 'key'])
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.schema
    .createTable('sources')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('uuid', uuid, (c) => c.notNull().unique())
    .addColumn('company_id', int, (c) => c.notNull().references('companies.id'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('current_version', int, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.schema
    .createTable('shape_versions')
    .addColumn('source_id', int, (c) => c.notNull().references('sources.id'))
    .addColumn('version', int, (c) => c.notNull())
    .addColumn('delivery', text, (c) => c.notNull())
    .addColumn('format', text, (c) => c.notNull())
    .addColumn('fields', text, (c) => c.notNull())
    .addColumn('saved_at', int, (c) => c.notNull())
    .addColumn('saved_by', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('shape_versions_pk', ['source_id', 'version'])
    .modifyEnd(tableEnd.plain)
    .execute();
  await trx.schema
    .createTable('access_keys')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('uuid', uuid, (c) => c.notNull().unique())
    .addColumn('source_id', int, (c) => c.notNull().references('sources.id'))
    .addColumn('hash', hash, (c) => c.notNull().unique())
    .addColumn('scope', text)
    .addColumn('sandbox', bool, (c) => c.notNull())
    .addColumn('created_at', int, (c) => c.notNull())
    .addColumn('expires_at', int, (c) => c.notNull())
    .addColumn('last_used_at', int)
    .addColumn('revoked_at', int)
    .modifyEnd(tableEnd.plain)
    .execute();
  await index(trx, 'access_keys', ['source_id', 'id']);
}

async function deliveries(trx: Transaction<Schema>, dialect: CatalogDialect) {
  const { types, tableEnd, partitions } = dialect;
  const { sequence, uuid, hash, bool, int, text } = types;
  const accepted = trx.schema
    .createTable('deliveries')
    .addColumn('sequence', sequence, (c) => c.primaryKey())
    .addColumn('artifact_id', uuid, (c) => (partitions ? c.notNull() : c.notNull().unique()))
    .addColumn('source_id', int, (c) => c.notNull())
    .addColumn('sandbox', bool, (c) => c.notNull())
    .addColumn('receipt_shape_version', int, (c) => c.notNull())
    .addColumn('shape_version', int, (c) => c.notNull())
    .addColumn('generation', int, (c) => c.notNull())
    .addColumn('sha256', hash, (c) => c.notNull())
    .addColumn('bytes', int, (c) => c.notNull())
    .addColumn('delivery', text, (c) => c.notNull())
    .addColumn('media_type', text, (c) => c.notNull())
    .addColumn('encoding', text, (c) => c.notNull())
    .addColumn('received_at', int, (c) => c.notNull())
    .addColumn('object', text, (c) => c.notNull())
    .addColumn('object_offset', int, (c) => c.notNull())
    .addColumn('object_length', int, (c) => c.notNull());
  const table = parseState(accepted, { types });
  const body = ['source_id', 'sandbox', 'sha256'] as const;
  await (partitions ? table : table.addUniqueConstraint('deliveries_body', [...body]))
    .addForeignKeyConstraint('deliveries_shape', ['source_id', 'shape_version'], 'shape_versions', [
      'source_id',
      'version',
    ])
    .modifyEnd(partitions?.tableEnd ?? tableEnd.plain)
    .execute();
  if (partitions) {
    await partitions.ensure(trx, 1);
    await index(trx, 'deliveries', ['artifact_id']);
    await bodies(trx, dialect);
  }
  await index(trx, 'deliveries', ['source_id', 'sequence']);
  await index(trx, 'deliveries', ['object']);
  // The queue: only what waits is in it, so few among millions are found at once. It holds every
  // column that choosing needs, so that no wide row is read for it.
  await trx.schema
    .createIndex('deliveries_waiting')
    .on('deliveries')
    .columns(['sequence', 'due_at', 'bytes', 'received_at', 'settled_at'])
    .where(sql.ref('settled_at'), 'is', null)
    .execute();
}

/** Which bytes and ids are known, over all parts of the table of deliveries. */
async function bodies(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { uuid, hash, bool, int } = types;
  await trx.schema
    .createTable('delivery_bodies')
    .addColumn('source_id', int, (c) => c.notNull())
    .addColumn('sandbox', bool, (c) => c.notNull())
    .addColumn('sha256', hash, (c) => c.notNull())
    .addColumn('sequence', int, (c) => c.notNull())
    .addColumn('artifact_id', uuid, (c) => c.notNull().unique())
    .addPrimaryKeyConstraint('delivery_bodies_pk', ['source_id', 'sandbox', 'sha256'])
    .modifyEnd(tableEnd.keyed)
    .execute();
}

function parseState<C extends string>(
  table: CreateTableBuilder<'deliveries', C>,
  { types: { uuid, int, text } }: Pick<CatalogDialect, 'types'>,
) {
  return table
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('due_at', int, (c) => c.notNull())
    .addColumn('lease_token', uuid)
    .addColumn('failures', int, (c) => c.notNull())
    .addColumn('crashes', int, (c) => c.notNull())
    .addColumn('metrics_up_to', int)
    .addColumn('settled_at', int)
    .addColumn('parser_version', int)
    .addColumn('records', int)
    .addColumn('parsed', int)
    .addColumn('rejected', int)
    .addColumn('samples', int)
    .addColumn('blank', int)
    .addColumn('superseded_within', int)
    .addColumn('refusal', text)
    .addColumn('undeclared_fields', text);
}

async function names(trx: Transaction<Schema>, { types, tableEnd }: CatalogDialect) {
  const { id, hash, bool, int, text } = types;
  await trx.schema
    .createTable('delivery_keys')
    .addColumn('source_id', int, (c) => c.notNull())
    .addColumn('sandbox', bool, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('sequence', int, (c) => c.notNull().references('deliveries.sequence'))
    .addColumn('ordinal', int, (c) => c.notNull())
    .addColumn('named_at', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('delivery_keys_pk', ['source_id', 'sandbox', 'key'])
    .modifyEnd(tableEnd.keyed)
    .execute();
  await index(trx, 'delivery_keys', ['sequence', 'ordinal']);
  await trx.schema
    .createTable('delivery_conflicts')
    .addColumn('id', id, (c) => c.primaryKey())
    .addColumn('sequence', int, (c) => c.notNull().references('deliveries.sequence'))
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('sha256', hash, (c) => c.notNull())
    .addColumn('at', int, (c) => c.notNull())
    .modifyEnd(tableEnd.plain)
    .execute();
  await index(trx, 'delivery_conflicts', ['sequence']);
}

async function index(trx: Transaction<Schema>, table: string, columns: string[]) {
  const name = `${table}_by_${columns.join('_')}`;
  await trx.schema.createIndex(name).on(table).columns(columns).execute();
}
