import { auditReads, auditWrites } from '../audit.ts';
import type { Catalog } from '../catalog.ts';
import { figuresReads, figuresWrites } from '../company-figures.ts';
import { deliveriesReads } from '../deliveries.ts';
import { deliveryPagesReads } from '../delivery-pages.ts';
import { directoryReads, directoryWrites } from '../directory.ts';
import { guarded } from '../guarded.ts';
import { openLedger } from '../ledger.ts';
import { migrate } from '../migrate.ts';
import { queueOn } from '../queue.ts';
import { reparsesOn } from '../reparses.ts';
import type { Db } from '../schema.ts';
import { sourceSummaries } from '../source-summaries.ts';
import { upkeepReads, upkeepWrites } from '../upkeep.ts';
import { usersReads, usersWrites } from '../users.ts';
import { kyselyOn, openPool, requireDurable } from './connect.ts';
import { postgresDialect as dialect } from './dialect.ts';
import { asCatalogError } from './errors.ts';
import { postgresLedger } from './ledger.ts';
import { listenForQueued } from './listen.ts';
import { lookupTogether } from './lookup.ts';

/** Connections of one process: what senders wait for has its own. */
const connectionsMax = { receipts: 4, other: 5, patient: 1 };

/**
 * Opens a catalog on Postgres, and brings its schema up to date. Reads and writes go over pools of
 * connections; nothing of it blocks this thread.
 *
 * @param url as libpq writes it: `postgres://user:password@host:5432/database?sslmode=verify-full`
 * @throws CatalogAway, CatalogRefusal `schema_newer`, `catalog_not_durable`
 */
export async function openPostgres(url: string): Promise<Catalog> {
  await bringUpToDate(url).catch((error) => {
    throw asCatalogError(error);
  });
  const receipts = openPool(url, connectionsMax.receipts);
  const other = openPool(url, connectionsMax.other);
  const own = <T extends object>(calls: T) => guarded(calls, asCatalogError);
  const alone: Db = { db: kyselyOn(other, 'alone'), dialect };
  const amongOthers: Db = { db: kyselyOn(other, 'among others'), dialect };
  const hot: Db = { db: kyselyOn(receipts, 'among others'), dialect };
  const lookup = own(lookupTogether(receipts, hot));
  const { ledger, idle } = openLedger(postgresLedger(receipts, alone), lookup);
  const closings: (() => Promise<void>)[] = [];
  const queue = own(queueOn(amongOthers));
  const { noteUses } = directoryWrites(amongOthers);
  const { nextToCheck, noteChecks } = upkeepWrites(amongOthers);
  // A save may withdraw millions of deliveries, in one statement (`withdraw.ts`).
  const patient = openPool(url, connectionsMax.patient, true);
  const { saveSource } = directoryWrites({ db: kyselyOn(patient, 'alone'), dialect });
  return {
    // Last uses and checks change nothing that others judge by, and nobody waits for so many.
    directory: own({ ...directoryReads(alone), ...directoryWrites(alone), noteUses, saveSource }),
    lookup,
    ledger,
    queue,
    reparses: own(reparsesOn(alone)),
    deliveries: own(deliveriesReads(amongOthers)),
    audit: own({ ...auditReads(amongOthers), ...auditWrites(amongOthers) }),
    upkeep: own({ ...upkeepReads(alone), ...upkeepWrites(alone), nextToCheck, noteChecks }),
    deliveryPages: own(deliveryPagesReads(amongOthers)),
    figures: own({ ...figuresReads(alone), ...figuresWrites(alone) }),
    sourceSummaries: own(sourceSummaries(amongOthers)),
    users: own({ ...usersReads(alone), ...usersWrites(alone) }),
    onQueued(told) {
      const listening = openPool(url, 1);
      const heard = listenForQueued(listening, told);
      closings.push(async () => {
        await heard.close();
        await listening.end();
      });
    },
    async ping() {
      await queue.extend([], 0);
      await lookup.key(Buffer.alloc(32));
    },
    async close() {
      await idle();
      for (const close of closings.splice(0)) await close();
      await Promise.all([receipts, other, patient].map((pool) => pool.end()));
    },
  };
}

async function bringUpToDate(url: string): Promise<void> {
  const pool = openPool(url, 1, true);
  try {
    await requireDurable(pool);
    await migrate(kyselyOn(pool, 'alone'), dialect);
  } finally {
    await pool.end();
  }
}
