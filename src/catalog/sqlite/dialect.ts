import { sql } from 'kysely';
import { CatalogRefusal } from '../catalog.ts';
import { type CatalogDialect, type DbBool, type DbUuid, isUuid } from '../dialect.ts';

const integer = sql`integer`;
const blob = sql`blob`;

/**
 * SQLite: uuids and hashes are blobs, truth values 0 and 1. A write transaction (`begin
 * immediate`) is alone by itself, so it needs no locks inside. `strict` tables refuse a value of
 * another type instead of keeping it.
 */
export const sqliteDialect: CatalogDialect = {
  uuid: {
    toDb: (text) => uuidBytes(text) as unknown as DbUuid,
    fromDb: (stored) => uuidText(stored as unknown as Buffer),
  },
  bool: {
    toDb: (value) => (value ? 1 : 0) as unknown as DbBool,
    fromDb: (stored) => (stored as unknown as number) === 1,
  },
  types: {
    id: integer,
    sequence: integer,
    uuid: blob,
    hash: blob,
    bytes: blob,
    bool: integer,
    int: integer,
    text: sql`text`,
  },
  partitions: null,
  tableEnd: { plain: sql`strict`, keyed: sql`strict, without rowid` },
  lockRows: (select) => select,
  lockMigrations: async () => {},
};

function uuidBytes(text: string): Buffer {
  if (!isUuid(text)) throw new CatalogRefusal('id_malformed', 'An id is a uuid.');
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  const parts = [[0, 8], [8, 12], [12, 16], [16, 20], [20]] as const;
  return parts.map(([from, to]) => hex.slice(from, to)).join('-');
}
