import { sql } from 'kysely';
import type pg from 'pg';
import { CatalogAway, CatalogRefusal } from '../catalog.ts';
import { failureOf } from '../failures.ts';
import type { Db } from '../schema.ts';
import type { LedgerAnswer, LedgerEntry, LedgerWrites, PlainClaim } from '../writes.ts';
import { begin } from './connect.ts';
import { partOf, partSpan } from './dialect.ts';
import { asCatalogError, inDoubt } from './errors.ts';
import { type Judged, judge, type Known, type Standing } from './judge.ts';
import { sourcesText, standingText, writeText } from './ledger-statements.ts';

/** Shape versions that were found; they are never edited, and never go. */
const shapesMax = 10_000;

/**
 * Judges claims by DECISIONS 5, a group in one transaction of four round trips: begin and lock,
 * what is known, what is new, commit.
 *
 * Ordering: one group at a time, of whatever node, holds the ledger's lock until its commit is
 * durable. So sequences grow in the order of the commits, and what a group found unknown is unknown
 * when it writes.
 * Failure: a refused entry writes nothing. An error of the data undoes the group, whose entries are
 * then run one by one. After a lost connection nobody can say whether the group holds.
 */
export function postgresLedger(pool: pg.Pool, at: Db): LedgerWrites {
  const sources = new Sources(pool);
  const parts = new Parts(at);

  async function commit(entries: readonly LedgerEntry[]): Promise<LedgerAnswer[]> {
    await sources.find(entries);
    const outcome = await inTransaction(pool, async (client) => {
      const judged = judge(entries, await standingOf(client, sources, entries));
      const sequences = judged.deliveries.map((one) => one.sequence);
      if (parts.miss(sequences)) return sequences;
      await write(client, judged);
      return judged;
    });
    if ('answers' in outcome) {
      parts.makeAhead(outcome.deliveries.at(-1)?.sequence ?? 0);
      return outcome.answers;
    }
    await parts.make(outcome);
    return commit(entries);
  }

  async function commitAlone(entry: LedgerEntry): Promise<LedgerAnswer> {
    try {
      return (await commit([entry]))[0]!;
    } catch (error) {
      const why = asCatalogError(error);
      if (why instanceof CatalogAway) throw why;
      return { kind: 'failed', failure: failureOf(why) };
    }
  }

  return {
    async commit(entries) {
      try {
        return await commit(entries);
      } catch (error) {
        const why = asCatalogError(error);
        if (why instanceof CatalogAway) throw why;
        const answers: LedgerAnswer[] = [];
        for (const entry of entries) answers.push(await commitAlone(entry));
        return answers;
      }
    },
  };
}

/** Sequences between two attempts to make a part ahead. */
const aheadEvery = 2 ** 16;

/** For tables that somebody else has locked, while nobody else gets a receipt. */
const lockWaits = { needed: '10s', ahead: '50ms' };

/** Parts of the table of deliveries that are known to be there. */
class Parts {
  readonly #at: Db;
  readonly #known = new Set<number>();
  /** Where the making of a part ahead was tried last. */
  #triedAt = 0;

  constructor(at: Db) {
    this.#at = at;
  }

  miss(sequences: readonly number[]): boolean {
    return sequences.some((sequence) => !this.#known.has(partOf(sequence)));
  }

  /** Before the group's own transaction, and alone: it changes the table. */
  async make(sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) {
      if (this.#known.has(partOf(sequence))) continue;
      await this.#ensure(sequence, lockWaits.needed);
    }
  }

  /**
   * Makes the next part when half of the one before is full. What keeps parts from being made may
   * last for hours (a vacuum that fends off the wraparound of transaction ids): receipts must not
   * wait for that. It is tried again and again until the part is needed; its failure is told then.
   */
  makeAhead(sequence: number): void {
    const next = sequence + partSpan / 2;
    if (this.#known.has(partOf(next)) || sequence < this.#triedAt + aheadEvery) return;
    this.#triedAt = sequence;
    this.#ensure(next, lockWaits.ahead).catch(() => {});
  }

  async #ensure(sequence: number, lockWait: string): Promise<void> {
    const { db, dialect } = this.#at;
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = ${sql.lit(lockWait)}`.execute(trx);
      await dialect.partitions!.ensure(trx, sequence);
    });
    this.#known.add(partOf(sequence));
  }
}

/** Ids of sources by their uuid and a version that they have. */
class Sources {
  readonly #pool: pg.Pool;
  readonly #ids = new Map<string, number>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Looks up what the group's claims name, unless it is known. */
  async find(entries: readonly LedgerEntry[]): Promise<void> {
    const asked = new Map<string, { source: string; version: number }>();
    for (const entry of entries) {
      if (entry.kind !== 'record') continue;
      const { sourceId: source, shapeVersion: version } = entry.claim;
      const name = `${source}/${version}`;
      if (!this.#ids.has(name)) asked.set(name, { source, version });
    }
    if (asked.size === 0) return;
    const { rows } = await this.#pool.query<{
      sourceId: string;
      version: number;
      id: number;
      known: boolean;
    }>({ name: 'weir ledger sources', text: sourcesText, values: [json([...asked.values()])] });
    if (this.#ids.size >= shapesMax) this.#ids.clear();
    for (const row of rows) {
      if (row.known) this.#ids.set(`${row.sourceId}/${row.version}`, row.id);
      // That it exists is known too: what it lacks is the version.
      this.#ids.set(row.sourceId, row.id);
    }
  }

  of({ sourceId, shapeVersion }: PlainClaim): number | CatalogRefusal {
    const id = this.#ids.get(`${sourceId}/${shapeVersion}`);
    if (id !== undefined) return id;
    const [code, what] = this.#ids.has(sourceId)
      ? ['shape_version_not_found', 'shape version']
      : ['source_not_found', 'source'];
    return new CatalogRefusal(code!, `There is no such ${what}.`);
  }
}

async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(begin.ledger);
    const done = await work(client);
    await client.query('commit').catch(inDoubt);
    client.release();
    return done;
  } catch (error) {
    // A connection in an unknown state goes; the server undoes what it had begun.
    client.release(true);
    throw error;
  }
}

async function standingOf(
  client: pg.PoolClient,
  sources: Sources,
  entries: readonly LedgerEntry[],
): Promise<Standing> {
  const asked = entries.map((entry, i) => {
    const probe = entry.kind === 'record' ? entry.claim : entry.probe;
    const { sourceId: source, sandbox, idempotencyKey: key, sha256 } = probe;
    return { i, source, sandbox, key, sha256 };
  });
  const { rows } = await client.query<{
    next: number;
    known: (Known & { i: number; by: 'key' | 'body' })[];
  }>({ name: 'weir ledger standing', text: standingText, values: [json(asked)] });
  const { next, known } = rows[0]!;
  const by = (which: 'key' | 'body') =>
    new Map(known.filter((one) => one.by === which).map((one) => [one.i, one]));
  return {
    ...{ next, byKey: by('key'), byBody: by('body') },
    source: (claim) => sources.of(claim),
  };
}

async function write(client: pg.PoolClient, judged: Judged): Promise<void> {
  const { deliveries, names, conflicts } = judged;
  if (names.length + conflicts.length === 0) return;
  const rows = deliveries.map(({ sequence, source, claim }) => ({
    ...{ sequence, source, sandbox: claim.sandbox, version: claim.shapeVersion },
    ...{ artifact: claim.artifactId, sha256: claim.sha256, bytes: claim.bytes },
    ...{ delivery: claim.delivery, media_type: claim.mediaType, encoding: claim.encoding },
    ...{ received_at: claim.receivedAt, secret: claim.secretId },
    ...claim.place,
  }));
  const values = [json(rows), json(names), json(conflicts)];
  await client.query({ name: 'weir ledger write', text: writeText, values });
}

function json(rows: readonly object[]): string {
  return JSON.stringify(rows);
}
