import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';

/** A key as the ledger keeps it, with the source that it opens. */
export interface KeyRow {
  readonly keyId: number;
  readonly sourceId: string;
  readonly scope: string;
  readonly expiresAt: number;
  readonly shapeVersion: number;
  readonly required: readonly string[];
}

export interface Receipt {
  readonly id: string;
  readonly shapeVersion: number;
}

export interface NewDelivery extends Receipt {
  readonly sourceId: string;
  readonly idempotencyKey: string;
  readonly sha256: Buffer;
  readonly bytes: number;
  readonly receivedAt: number;
}

/** Keys, sources and receipts in SQLite; a receipt is durable when `record` returns. */
export class Ledger {
  readonly #db: Database.Database;
  readonly #key: Database.Statement<[Buffer]>;
  readonly #known: Database.Statement<[string, string, string, Buffer]>;
  readonly #insert: Database.Statement;

  constructor(file: string) {
    this.#db = new Database(file);
    this.#db.pragma('journal_mode = WAL');
    // The default of WAL would lose acknowledged receipts with the power.
    this.#db.pragma('synchronous = FULL');
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS keys (
        id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, source TEXT NOT NULL,
        scope TEXT NOT NULL, expires_at INTEGER NOT NULL,
        shape_version INTEGER NOT NULL, required TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS deliveries (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, idempotency_key TEXT NOT NULL,
        sha256 BLOB NOT NULL, shape_version INTEGER NOT NULL, bytes INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        UNIQUE (source, idempotency_key), UNIQUE (source, sha256)) WITHOUT ROWID;`);
    this.#key = this.#db.prepare('SELECT * FROM keys WHERE hash = ?');
    this.#known = this.#db.prepare(`
      SELECT id, shape_version FROM deliveries WHERE source = ? AND idempotency_key = ?
      UNION ALL SELECT id, shape_version FROM deliveries WHERE source = ? AND sha256 = ? LIMIT 1`);
    this.#insert = this.#db.prepare(`INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?)`);
  }

  addKey(text: string, about: Omit<KeyRow, 'keyId'>): void {
    const { sourceId, scope, expiresAt, shapeVersion, required } = about;
    this.#db
      .prepare(
        `INSERT INTO keys (hash, source, scope, expires_at, shape_version, required)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .run(hashOf(text), sourceId, scope, expiresAt, shapeVersion, JSON.stringify(required));
  }

  key(text: string): KeyRow | null {
    const row = this.#key.get(hashOf(text)) as
      | { id: number; source: string; scope: string; expires_at: number }
      | undefined;
    if (!row) return null;
    const { shape_version, required } = row as unknown as {
      shape_version: number;
      required: string;
    };
    return {
      ...{ keyId: row.id, sourceId: row.source, scope: row.scope, expiresAt: row.expires_at },
      ...{ shapeVersion: shape_version, required: JSON.parse(required) as string[] },
    };
  }

  /** The first receipt of this key or of these bytes. */
  known(sourceId: string, idempotencyKey: string, sha256: Buffer): Receipt | null {
    const row = this.#known.get(sourceId, idempotencyKey, sourceId, sha256) as
      | { id: string; shape_version: number }
      | undefined;
    return row ? { id: row.id, shapeVersion: row.shape_version } : null;
  }

  /** @returns the receipt that stands: another request with the same key may have been faster */
  record(delivery: NewDelivery): Receipt {
    const { id, sourceId, idempotencyKey, sha256, shapeVersion, bytes, receivedAt } = delivery;
    try {
      this.#insert.run(id, sourceId, idempotencyKey, sha256, shapeVersion, bytes, receivedAt);
      return delivery;
    } catch (error) {
      const first = this.known(sourceId, idempotencyKey, sha256);
      if (!first) throw error;
      return first;
    }
  }

  close(): void {
    this.#db.close();
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
