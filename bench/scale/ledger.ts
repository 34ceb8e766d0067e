import { createHash, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { openCatalog } from '../../src/catalog/open.ts';
import { kyselyOn, openPool } from '../../src/catalog/postgres/connect.ts';
import { partSpan, postgresDialect } from '../../src/catalog/postgres/dialect.ts';
import { postgresLedger } from '../../src/catalog/postgres/ledger.ts';
import type { LedgerEntry } from '../../src/catalog/writes.ts';
import { limits } from '../../src/domain/limits.ts';
import { median } from '../statistics.ts';
import { makeCompany, makeSource } from '../world/weir.ts';
import { countCpu } from './cpu.ts';
import { fitLine, type Line } from './fit.ts';
import type { Stores } from './world.ts';

/** What the ledger on Postgres takes, and what its tables grow by. */
export interface LedgerMeasured {
  /** Milliseconds in which a group has the ledger for itself, by its deliveries. */
  readonly groupMs: Line;
  /** Microseconds of Postgres' processor time for a group. */
  readonly groupCpuUs: Line;
  readonly groups: readonly { size: number; ms: number; cpuUs: number }[];
  readonly deliveries: number;
  /** Bytes for each delivery, as it was written; of tables and indexes that are in parts. */
  readonly partBytes: number;
  /** Of those that are one for all deliveries; their indexes are written at random places. */
  readonly globalTableBytes: number;
  readonly globalIndexBytes: number;
  readonly relations: readonly { name: string; bytes: number }[];
  /** By the parts of the table: a group of 64, and a claim of one delivery. */
  readonly parts: readonly {
    readonly parts: number;
    readonly groupMs: number;
    readonly groupCpuUs: number;
    readonly claimMs: number;
    readonly claimCpuUs: number;
  }[];
}

const sizes = [1, 8, 64, 250, 500] as const;

/**
 * In a database of its own: groups of several sizes, one after the other, then many deliveries.
 *
 * @param deliveries how many in all
 * @param partsMax how many parts the table of deliveries is given at the end
 */
export async function measureLedger(
  stores: Stores,
  { deliveries, partsMax, ms }: { deliveries: number; partsMax: number; ms: number },
): Promise<LedgerMeasured> {
  const url = await stores.postgres.database();
  const database = new URL(url).pathname.slice(1);
  const catalog = await openCatalog(url, { thread: false });
  const pool = openPool(url, 1);
  try {
    const { sourceId } = await makeSource(catalog, await makeCompany(catalog), 'push');
    const db = kyselyOn(pool, 'alone');
    const ledger = postgresLedger(pool, { db, dialect: postgresDialect });
    let written = 0;
    const commit = async (size: number) => {
      const entries = Array.from({ length: size }, () => entry(sourceId, written++));
      const started = performance.now();
      const answers = await ledger.commit(entries);
      const took = performance.now() - started;
      const stored = answers.every((one) => one.kind === 'record' && !('known' in one.verdict));
      if (!stored) throw new Error('the ledger did not take a group as new');
      return took;
    };
    const groups = [];
    for (const size of sizes) groups.push(await timed(stores, size, commit, ms));
    while (written < deliveries) await commit(limits.ledgerGroupMax);
    const relations = await sizesOf(stores, database, written);
    const parts = [];
    for (const count of [1, Math.ceil(partsMax / 10), partsMax]) {
      await db.transaction().execute(async (trx) => {
        const { ensure } = postgresDialect.partitions!;
        for (let part = 1; part < count; part++) await ensure(trx, part * partSpan);
      });
      // A connection plans a statement anew five times before it keeps the plan.
      for (let i = 0; i < 8; i++) await commit(64);
      const group = await timed(stores, 64, commit, ms / 2);
      const claim = await timed(stores, 1, () => timeOf(() => catalog.queue.claim(one)), ms / 2);
      const { ms: groupMs, cpuUs: groupCpuUs } = group;
      const { ms: claimMs, cpuUs: claimCpuUs } = claim;
      parts.push({ parts: count, groupMs, groupCpuUs, claimMs, claimCpuUs });
    }
    const sum = (of: RegExp) =>
      relations.filter(({ name }) => of.test(name)).reduce((all, { bytes }) => all + bytes, 0);
    return {
      groupMs: fitLine(groups.map(({ size, ms: cost }) => ({ units: size, cost }))),
      groupCpuUs: fitLine(groups.map(({ size, cpuUs }) => ({ units: size, cost: cpuUs }))),
      ...{ groups, deliveries: written },
      partBytes: sum(/^deliveries/),
      globalTableBytes: sum(/^delivery_(bodies|keys)$/),
      globalIndexBytes: sum(/^delivery_(bodies|keys)_/),
      ...{ relations, parts },
    };
  } finally {
    await pool.end();
    await catalog.close();
  }
}

/** What a parse loop asks for. */
const one = { limit: 1, bytesMax: 1, leaseMs: 60_000, now: Date.now() } as const;

async function timed(
  stores: Stores,
  size: number,
  commit: (size: number) => Promise<number>,
  ms: number,
) {
  await commit(size);
  const spent = countCpu({ postgres: stores.parts.postgres });
  const times: number[] = [];
  for (const end = performance.now() + ms; times.length < 5 || performance.now() < end; ) {
    times.push(await commit(size));
  }
  return { size, ms: median(times), cpuUs: spent().postgres / times.length };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function entry(sourceId: string, n: number): LedgerEntry {
  const now = Date.now();
  return {
    kind: 'record',
    claim: {
      ...{ sourceId, sandbox: false, idempotencyKey: randomUUID(), shapeVersion: 1 },
      ...{ sha256: createHash('sha256').update(String(n)).digest('hex'), artifactId: v7() },
      ...{ delivery: 'push', mediaType: 'application/json', encoding: 'identity', bytes: 1_024 },
      ...{ receivedAt: now, secretId: null },
      place: { object: `2026/01/01/${sourceId}.seg`, offset: (n % 500) * 1_024, length: 1_024 },
    },
  };
}

/** Bytes for each delivery of each table and index, after a vacuum; parts under one name. */
async function sizesOf({ postgres }: Stores, database: string, deliveries: number) {
  await postgres.run(database, 'vacuum analyze');
  const { rows } = await postgres.run(
    database,
    `select regexp_replace(relname, '^deliveries_[0-9]+', 'deliveries') as name,
       sum(pg_relation_size(oid))::bigint as bytes
     from pg_class where relkind in ('r', 'i') and relname like 'deliver%'
     group by 1 having sum(pg_relation_size(oid)) > 65536 order by 2 desc`,
  );
  return (rows as { name: string; bytes: string }[]).map(({ name, bytes }) => ({
    name,
    bytes: Number(bytes) / deliveries,
  }));
}
