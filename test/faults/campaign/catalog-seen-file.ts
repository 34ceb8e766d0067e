import Database from 'better-sqlite3';
import type { CatalogSeen, DeliveryRow } from './catalog-seen.ts';
import {
  conflictRows,
  deliveryRows,
  keyRows,
  type SeenAs,
  waitingCount,
} from './catalog-seen-sql.ts';

const seenAs: SeenAs = {
  hex: (column) => `lower(hex(${column}))`,
  uuid(column) {
    const at = (from: number, length: number) => `substr(hex(${column}), ${from}, ${length})`;
    const parts = [at(1, 8), at(9, 4), at(13, 4), at(17, 4), at(21, 12)];
    return `lower(${parts.join(" || '-' || ")})`;
  },
};

/** A catalog in the file of a SQLite database. */
export function fileSeen(path: string): CatalogSeen {
  async function read<T>(query: string): Promise<T[]> {
    const db = new Database(path, { readonly: true, timeout: 10_000 });
    try {
      return db.prepare(query).all() as T[];
    } finally {
      db.close();
    }
  }
  return {
    waiting: async () => (await read<{ n: number }>(waitingCount))[0]!.n,
    async deliveries() {
      const rows = await read<Omit<DeliveryRow, 'sandbox'> & { sandbox: 0 | 1 }>(
        deliveryRows(seenAs),
      );
      return rows.map((row) => ({ ...row, sandbox: row.sandbox === 1 }));
    },
    keys: () => read(keyRows),
    conflicts: () => read(conflictRows(seenAs)),
  };
}
