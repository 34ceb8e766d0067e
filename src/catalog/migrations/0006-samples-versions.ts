import type { Migration } from './list.ts';

/**
 * What reads of a source show, by number: the sum of its row and of that of all sources (0).
 * A table of its own, so that who raises a number waits for nobody who saves a source.
 */
export const samplesVersions: Migration = {
  name: '0006-samples-versions',
  async up(trx, { types, tableEnd }) {
    await trx.schema
      .createTable('samples_versions')
      .addColumn('source_id', types.int, (c) => c.notNull().primaryKey())
      .addColumn('version', types.int, (c) => c.notNull())
      .modifyEnd(tableEnd.plain)
      .execute();
  },
};
