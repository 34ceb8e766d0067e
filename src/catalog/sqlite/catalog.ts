import type { Database } from 'better-sqlite3';
import { auditReads } from '../audit.ts';
import type { Catalog, Lookup } from '../catalog.ts';
import { figuresReads } from '../company-figures.ts';
import { deliveriesReads } from '../deliveries.ts';
import { deliveryPagesReads } from '../delivery-pages.ts';
import { directoryReads } from '../directory.ts';
import { guarded } from '../guarded.ts';
import { openLedger } from '../ledger.ts';
import { openLookup, type Prepare } from '../lookup.ts';
import type { Once } from '../once.ts';
import { sourceSummaries } from '../source-summaries.ts';
import { upkeepReads } from '../upkeep.ts';
import { usersReads } from '../users.ts';
import { writesThrough } from '../writes.ts';
import { connectReader, kyselyOn } from './connect.ts';
import { sqliteDialect } from './dialect.ts';
import { asCatalogError } from './errors.ts';
import { SinceCommit } from './since-commit.ts';
import type { Writer } from './writer.ts';

/**
 * Puts a catalog together: writes go through the writer, reads through a connection of their own
 * in this thread. A read takes microseconds and sees every commit, of any process, at once.
 */
export function sqliteCatalog(path: string, writer: Writer): Catalog {
  const connection = connectReader(path);
  const at = { db: kyselyOn(connection), dialect: sqliteDialect };
  const own = <T extends object>(reads: T) => guarded(reads, asCatalogError);
  const writes = writesThrough((call) => writer.call(call));
  const lookup = own(sinceCommit(connection, openLookup(at, prepareOn(connection))));
  const { ledger, idle } = openLedger(writes.ledger, lookup);
  return {
    directory: { ...own(directoryReads(at)), ...writes.directory },
    lookup,
    ledger,
    queue: writes.queue,
    reparses: writes.reparses,
    deliveries: own(deliveriesReads(at)),
    audit: { ...own(auditReads(at)), ...writes.audit },
    upkeep: { ...own(upkeepReads(at)), ...writes.upkeep },
    deliveryPages: own(deliveryPagesReads(at)),
    figures: { ...own(figuresReads(at)), ...writes.figures },
    sourceSummaries: own(sourceSummaries(at)),
    users: { ...own(usersReads(at)), ...writes.users },
    // Other processes on the same file say nothing; their parsers are found out by asking.
    onQueued() {},
    async ping() {
      await writes.queue.extend([], 0);
      await lookup.key(Buffer.alloc(32));
    },
    async close() {
      await idle();
      connection.close();
      await writer.close();
    },
  };
}

/** Keys are asked for by every request; between two commits of anybody the answers are the same. */
function sinceCommit(connection: Database, lookup: Lookup): Lookup {
  const keys = new SinceCommit(connection);
  return {
    ...lookup,
    key: (hash) => keys.answer(hash.toString('latin1'), () => lookup.key(hash)),
  };
}

function prepareOn(connection: Database): Prepare {
  return {
    one<P, R>(query: Once<P, R>) {
      const statement = connection.prepare<unknown[], R>(query.sql);
      return async (params: P) => statement.get(query.values(params));
    },
    all<P, R>(query: Once<P, R>) {
      const statement = connection.prepare<unknown[], R>(query.sql);
      return async (params: P) => statement.all(query.values(params));
    },
  };
}
