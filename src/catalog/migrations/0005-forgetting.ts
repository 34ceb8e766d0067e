import type { Migration } from './list.ts';

/** Which sources have withdrawn samples whose text is still to be taken out of the store. */
export const forgetting: Migration = {
  name: '0005-forgetting',
  async up(trx, { types }) {
    await trx.schema.alterTable('sources').addColumn('forget_below', types.int).execute();
  },
};
