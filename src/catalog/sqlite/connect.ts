import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { DatabaseConnection, Dialect, SqliteDatabase } from 'kysely';
import {
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { CatalogAway } from '../catalog.ts';
import type { Schema } from '../schema.ts';
import { StatementCache } from './statement-cache.ts';

/** How long a write waits for another process's transaction, and a read for a recovery. */
const busyMs = { write: 30_000, read: 5_000 };

/** Connects for reading and writing; makes the file when it is missing. */
export function connectWriter(path: string): Database {
  return connect(path, (db) => {
    db.pragma(`busy_timeout = ${busyMs.write}`);
    db.pragma('journal_mode = WAL');
    // The driver's default in WAL mode is NORMAL, which loses acknowledged commits with the power.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma('journal_size_limit = 67108864');
    // 16 MiB of log before it is copied into the file: pages that random hashes touch again and
    // again are then copied once.
    db.pragma('wal_autocheckpoint = 4000');
  });
}

/** Connects for reading a catalog that a writer of this process has opened before. */
export function connectReader(path: string): Database {
  return connect(path, (db) => db.pragma(`busy_timeout = ${busyMs.read}`), true);
}

function connect(path: string, setUp: (db: Database) => void, readonly = false): Database {
  let db: Database | undefined;
  try {
    db = new Sqlite(path, { readonly, fileMustExist: readonly });
    setUp(db);
    return db;
  } catch (error) {
    db?.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new CatalogAway(`the catalog ${path} cannot be opened: ${why}`, { cause: error });
  }
}

/** Kysely over a connection. Destroying it closes the connection. */
export function kyselyOn(connection: Database): Kysely<Schema> {
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ImmediateDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new PlainParameterCompiler(),
  };
  return new Kysely<Schema>({ dialect });
}

/**
 * Writes parameters as `+?`. The driver's SQLite is built with STAT4, which prepares a join again
 * whenever a parameter has another value, in case a better plan is there: 16 µs instead of 2 for
 * the lookup of a key. The plus changes no value and hides the parameter from the planner.
 */
class PlainParameterCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}

/**
 * Begins every transaction as a writing one. A deferred one that turns to writing while another
 * process writes fails at once with SQLITE_BUSY, whatever the timeout; with two processes most did.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #connection: Database;
  readonly #begin: Statement;

  constructor(connection: Database) {
    const cache = new StatementCache(connection);
    const database: SqliteDatabase = {
      prepare: (text) => cache.prepare(text),
      close: () => connection.close(),
    };
    super({ database });
    this.#connection = connection;
    this.#begin = connection.prepare('begin immediate');
  }

  override async beginTransaction(): Promise<void> {
    this.#begin.run();
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk makes SQLite roll back by itself; a second rollback would hide the reason.
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}
