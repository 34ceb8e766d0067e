import pg from 'pg';
import type { CatalogSeen } from './catalog-seen.ts';
import {
  conflictRows,
  deliveryRows,
  keyRows,
  type SeenAs,
  waitingCount,
} from './catalog-seen-sql.ts';

const seenAs: SeenAs = {
  hex: (column) => `encode(${column}, 'hex')`,
  uuid: (column) => `${column}::text`,
};

/** Integers of 64 bits as numbers: all that a run counts is exact in JavaScript. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as 'text'),
};

/** A catalog on Postgres; each read has a connection of its own, which no fault has met before. */
export function postgresSeen(connectionString: string): CatalogSeen {
  async function read<T extends object>(query: string): Promise<T[]> {
    const client = new pg.Client({ connectionString, types, connectionTimeoutMillis: 10_000 });
    await client.connect();
    try {
      return (await client.query<T>(query)).rows;
    } finally {
      await client.end();
    }
  }
  return {
    waiting: async () => (await read<{ n: number }>(waitingCount))[0]!.n,
    deliveries: () => read(deliveryRows(seenAs)),
    keys: () => read(keyRows),
    conflicts: () => read(conflictRows(seenAs)),
  };
}
