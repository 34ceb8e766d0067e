import { Socket } from 'node:net';
import {
  AbortedTransactionError,
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { CatalogRefusal } from '../catalog.ts';
import type { Schema } from '../schema.ts';
import { inDoubt } from './errors.ts';

/** How long is waited, in milliseconds. */
const waits = {
  connect: 5_000,
  /** For one statement. */
  statement: 30_000,
  /** For a lock that another node holds. */
  lock: 10_000,
  /** Between two statements of a transaction: the server ends it, for it holds locks. */
  idleInTransaction: 5_000,
  /** Without a byte on a connection: longer than any statement, so the server is gone. */
  silence: 35_000,
};

/** Integers of 64 bits and sums as numbers: all of them are exact in JavaScript. */
const types: pg.CustomTypesConfig = {
  getTypeParser(type, format) {
    const { INT8, NUMERIC } = pg.types.builtins;
    if (type === INT8 || type === NUMERIC) return Number;
    return pg.types.getTypeParser(type, format as 'text');
  },
};

/**
 * Connections to the server. None waits for ever: neither for a lock nor for an answer that does
 * not come, and a node that stands still in the middle of a transaction loses it.
 *
 * @param patient for migrations and saves, which may take long
 */
export function openPool(url: string, max: number, patient = false): pg.Pool {
  const { statement, lock, idleInTransaction } = waits;
  const pool = new pg.Pool({
    ...{ connectionString: url, max, types, application_name: 'weir', keepAlive: true },
    connectionTimeoutMillis: waits.connect,
    // Not what the server's configuration says: a commit that returned is on disk.
    options: '-c synchronous_commit=on',
    ...(patient ? {} : { statement_timeout: statement, lock_timeout: lock }),
    idle_in_transaction_session_timeout: idleInTransaction,
    stream: () => (patient ? new Socket() : socketThatGivesUp()),
  });
  // A connection that was lost: whoever has it hears of it from the next statement, and nobody has
  // to of an idle one. An error that no listener hears would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function socketThatGivesUp(): Socket {
  const socket = new Socket();
  return socket.setTimeout(waits.silence, () => {
    socket.destroy(new Error('Connection terminated: the server is silent'));
  });
}

/** Which advisory locks a transaction takes as it begins, and keeps until it ends. */
export type Beginning = 'alone' | 'among others';

/** Numbers of advisory locks in the catalog's database. */
const locks = { alone: 0x77656972_01n, ledger: 0x77656972_02n };

/** Whatever the server's configuration says: what is read after a lock is newer than the lock. */
const start = 'begin isolation level read committed';

/** Statements that begin a transaction; one round trip. */
export const begin: Record<Beginning | 'ledger', string> = {
  alone: `${start}; select pg_advisory_xact_lock(${locks.alone})`,
  'among others': `${start}; select pg_advisory_xact_lock_shared(${locks.alone})`,
  // Its statements have one good plan: making it anew for each group costs more, the more parts.
  ledger: `${start}; set local plan_cache_mode = force_generic_plan;
    select pg_advisory_xact_lock_shared(${locks.alone}),
    pg_advisory_xact_lock(${locks.ledger})`,
};

/**
 * Kysely over a pool.
 *
 * Ordering: a transaction that is `alone` has no other beside it on any node, as with SQLite: rules
 * that were written for that hold here too. Those `among others` (queue and ledger) run side by
 * side; what they write are rows that they have locked.
 */
export function kyselyOn(pool: pg.Pool, beginning: Beginning): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new LockingDriver(pool, begin[beginning]),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0];

class LockingDriver extends PostgresDriver {
  readonly #begin: string;

  constructor(pool: pg.Pool, begin: string) {
    super({ pool });
    this.#begin = begin;
  }

  override async beginTransaction(connection: DatabaseConnection, _settings: TransactionSettings) {
    try {
      await connection.executeQuery(CompiledQuery.raw(this.#begin));
    } catch (error) {
      // It has begun and lacks the lock: who got this connection next would be in the middle of it.
      // A connection that cannot even do this is thrown away.
      await this.rollbackTransaction(connection as Connection).catch(() => {});
      throw error;
    }
  }

  override async commitTransaction(connection: DatabaseConnection) {
    await super.commitTransaction(connection).catch((error) => {
      // Undone for sure, and a defect: an error within the transaction was passed over.
      if (error instanceof AbortedTransactionError) throw error;
      inDoubt(error);
    });
  }
}

/** @throws CatalogRefusal `catalog_not_durable` for a server that loses commits with the power */
export async function requireDurable(pool: pg.Pool): Promise<void> {
  // The last one is asked for with each connection, and an address may say otherwise.
  const { rows } = await pool.query<{ name: string; value: string }>(
    `select name, current_setting(name) as value
    from unnest(array['fsync', 'full_page_writes', 'synchronous_commit']) as name`,
  );
  for (const { name, value } of rows) {
    if (value !== 'off') continue;
    const lost = 'receipts would be lost with the power';
    const message = `The Postgres of the catalog has ${name} = ${value}: ${lost}.`;
    throw new CatalogRefusal('catalog_not_durable', message);
  }
}
