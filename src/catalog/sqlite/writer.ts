import { auditWrites } from '../audit.ts';
import { figuresWrites } from '../company-figures.ts';
import type { CatalogDialect } from '../dialect.ts';
import { directoryWrites } from '../directory.ts';
import { migrate } from '../migrate.ts';
import { queueOn } from '../queue.ts';
import { reparsesOn } from '../reparses.ts';
import type { Db } from '../schema.ts';
import { upkeepWrites } from '../upkeep.ts';
import { usersWrites } from '../users.ts';
import { type Call, serveCall, type Writes } from '../writes.ts';
import { connectWriter, kyselyOn } from './connect.ts';
import { sqliteDialect } from './dialect.ts';
import { asCatalogError } from './errors.ts';
import { sqliteLedger } from './ledger.ts';

/** The one connection that writes, in this thread or in another. */
export interface Writer {
  /** Runs one call; calls are run one after another. */
  call(call: Call): Promise<unknown>;
  /** After the calls that were made before. */
  close(): Promise<void>;
}

/**
 * Opens the catalog for writing in this thread, and brings its schema up to date.
 *
 * @throws CatalogAway when the file cannot be opened, CatalogRefusal `schema_newer`
 */
export async function openWriter(path: string): Promise<Writer> {
  const dialect: CatalogDialect = sqliteDialect;
  const connection = connectWriter(path);
  const db = kyselyOn(connection);
  const at: Db = { db, dialect };
  const close = () => inTurn(async () => void connection.close());
  try {
    await inTurn(() => migrate(db, dialect));
  } catch (error) {
    await close();
    throw error;
  }
  const writes: Writes = {
    directory: directoryWrites(at),
    ledger: sqliteLedger(connection, at),
    queue: queueOn(at),
    reparses: reparsesOn(at),
    audit: auditWrites(at),
    upkeep: upkeepWrites(at),
    figures: figuresWrites(at),
    users: usersWrites(at),
  };
  return { call: (call) => inTurn(() => serveCall(writes, call)), close };
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `work` when all work before it has ended, over every catalog of this thread: two of them on
 * one file would otherwise block the thread that the other one needs to finish its transaction.
 */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work).catch((error) => {
    throw asCatalogError(error);
  });
  last = mine.catch(() => {});
  return mine;
}
