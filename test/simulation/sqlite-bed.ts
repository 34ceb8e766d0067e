import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { Lookup } from '../../src/catalog/catalog.ts';
import { openLookup } from '../../src/catalog/lookup.ts';
import type { Once } from '../../src/catalog/once.ts';
import { connectReader, kyselyOn } from '../../src/catalog/sqlite/connect.ts';
import { sqliteDialect } from '../../src/catalog/sqlite/dialect.ts';
import { SinceCommit } from '../../src/catalog/sqlite/since-commit.ts';
import { openWriter, type Writer } from '../../src/catalog/sqlite/writer.ts';
import { upkeepReads } from '../../src/catalog/upkeep.ts';
import type { Call } from '../../src/catalog/writes.ts';
import type { CatalogBed, StoredDelivery } from './catalog-bed.ts';

/** What a run writes; the declarations stay from run to run. */
const writtenTables = [
  ...['delivery_conflicts', 'delivery_keys', 'deliveries', 'settle_turns', 'samples_versions'],
];

const waitingQuery = `select count(*) from deliveries
  where settled_at is null or next_generation is not null`;

const deliveriesQuery = `select lower(hex(d.artifact_id)) as artifactId, s.name as source,
    d.sandbox, d.sequence, lower(hex(d.sha256)) as sha256, d.status, d.shape_version as version,
    d.generation, d.object, d.object_offset as offset, d.object_length as length,
    d.records, d.parsed, d.rejected, d.samples, d.superseded_within as supersededWithin,
    (select json_group_array(key) from delivery_keys as k where k.sequence = d.sequence) as keys,
    (select count(*) from delivery_conflicts as c where c.sequence = d.sequence) as conflicts
  from deliveries as d join sources as s on s.id = d.source_id order by d.sequence`;

type Row = Omit<StoredDelivery, 'sandbox' | 'keys'> & { sandbox: number; keys: string };

/**
 * The real SQLite catalog, one for all runs of a test file. It lies in memory: what a power cut
 * leaves is tested elsewhere, and here a commit is durable.
 */
export class SqliteBed implements CatalogBed {
  readonly standing: CatalogBed['standing'];
  readonly #dir: string;
  readonly #writer: Writer;
  readonly #reader: Database;
  readonly #cleaner: Database;
  readonly #waiting: Statement;
  readonly #all: Statement;
  readonly #lookup: Lookup;

  private constructor(dir: string, path: string, writer: Writer) {
    this.#dir = dir;
    this.#writer = writer;
    this.#reader = connectReader(path);
    this.#cleaner = new Sqlite(path);
    this.#cleaner.pragma('foreign_keys = OFF');
    this.#waiting = this.#reader.prepare(waitingQuery).pluck();
    this.#all = this.#reader.prepare(deliveriesQuery);
    const at = { db: kyselyOn(this.#reader), dialect: sqliteDialect };
    this.#lookup = openLookup(at, {
      one: (query) => prepared(this.#reader, query, 'get'),
      all: (query) => prepared(this.#reader, query, 'all'),
    });
    this.standing = upkeepReads(at).standing;
  }

  static async open(): Promise<SqliteBed> {
    const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    const dir = await mkdtemp(join(memory, 'weir-simulation-'));
    const path = join(dir, 'catalog.db');
    return new SqliteBed(dir, path, await openWriter(path));
  }

  call(call: Call): Promise<unknown> {
    return this.#writer.call(call);
  }

  lookup(): Lookup {
    const keys = new SinceCommit(this.#reader);
    const key: Lookup['key'] = (hash) =>
      keys.answer(hash.toString('latin1'), () => this.#lookup.key(hash));
    return { ...this.#lookup, key };
  }

  waiting(): number {
    return this.#waiting.get() as number;
  }

  deliveries(): StoredDelivery[] {
    return (this.#all.all() as Row[]).map((row) => ({
      ...row,
      artifactId: dashed(row.artifactId),
      sandbox: row.sandbox === 1,
      keys: (JSON.parse(row.keys) as string[]).sort(),
    }));
  }

  reset(): void {
    this.#cleaner.transaction(() => {
      for (const table of writtenTables) this.#cleaner.exec(`delete from ${table}`);
      this.#cleaner.exec('update sources set reparsed_up_to = 0, forget_below = null');
      this.#cleaner.exec('update catalog_state set sequence_above = 0');
      this.#cleaner.exec('update counters set value = 0');
    })();
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#reader.close();
    this.#cleaner.close();
    await rm(this.#dir, { recursive: true });
  }
}

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function prepared<P, R>(connection: Database, query: Once<P, R>, how: 'get' | 'all') {
  const statement = connection.prepare<unknown[], R>(query.sql);
  // biome-ignore lint/suspicious/noExplicitAny: one function for a row and for all of them
  return async (params: P): Promise<any> => statement[how](query.values(params));
}
