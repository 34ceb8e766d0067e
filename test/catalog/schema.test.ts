import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { v7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { CatalogAway, CatalogRefusal } from '../../src/catalog/catalog.ts';
import { migrate } from '../../src/catalog/migrate.ts';
import { migrations } from '../../src/catalog/migrations/list.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { backlogQuery, dueQuery } from '../../src/catalog/queue.ts';
import { connectWriter, kyselyOn } from '../../src/catalog/sqlite/connect.ts';
import { sqliteDialect } from '../../src/catalog/sqlite/dialect.ts';
import { RecordingChild } from './child.ts';
import { claimFor, seedSource, store, tempCatalog } from './support.ts';

describe('migrations', () => {
  it('run once when many threads and processes open a new catalog at the same time', async () => {
    const place = await tempCatalog();
    const nobody = '00000000-0000-0000-0000-000000000000';
    const args = { url: place.url, sourceId: nobody, where: 'thread', atOnce: 1 } as const;
    const children = [new RecordingChild(args), new RecordingChild(args)];
    const opened = await Promise.all(
      Array.from({ length: 6 }, (_, i) => openCatalog(place.url, { thread: i % 2 === 0 })),
    );
    await seedSource(opened[0]!);
    for (const catalog of opened) await catalog.close();
    for (const child of children) {
      await child.ended;
      // They opened it, and were refused only for their source.
      expect(child.stderr).toContain('CatalogRefusal: There is no such source.');
    }
    const db = new Sqlite(place.path, { readonly: true });
    const done = db.prepare('select number, name from catalog_migrations').all();
    expect(done).toEqual(migrations.map((step, i) => ({ number: i + 1, name: step.name })));
    db.close();
    await place.remove();
  });

  it('keep the keys and deliveries of a catalog from before rotation and secrets', async () => {
    const place = await tempCatalog();
    const connection = connectWriter(place.path);
    await migrate(kyselyOn(connection), sqliteDialect, migrations.slice(0, 1));
    const [hash, artifact] = [randomBytes(32), v7()];
    const bytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');
    const insert = (table: string, row: Record<string, unknown>) => {
      const names = Object.keys(row);
      const text = `insert into ${table} (${names}) values (${names.map(() => '?')})`;
      connection.prepare(text).run(Object.values(row));
    };
    const [company, source, key] = [v7(), v7(), v7()];
    const at = { created_at: 1 };
    insert('companies', { id: 1, uuid: bytes(company), name: 'c', timezone: 'UTC', ...at });
    insert('sources', {
      ...{ id: 1, uuid: bytes(source), company_id: 1, name: 's', current_version: 1, ...at },
    });
    insert('shape_versions', {
      ...{ source_id: 1, version: 1, delivery: 'push', format: 'csv', fields: '[]' },
      ...{ saved_at: 1, saved_by: 'a' },
    });
    insert('access_keys', {
      ...{ uuid: bytes(key), source_id: 1, hash, scope: null, sandbox: 0, expires_at: 9, ...at },
    });
    insert('deliveries', {
      ...{ artifact_id: bytes(artifact), source_id: 1, sandbox: 0, receipt_shape_version: 1 },
      ...{ shape_version: 1, generation: 0, sha256: randomBytes(32), bytes: 1, delivery: 'push' },
      ...{ media_type: 'x', encoding: 'identity', received_at: 1, object: 'o', object_offset: 0 },
      ...{ object_length: 1, status: 'queued', due_at: 0, failures: 0, crashes: 0 },
    });
    connection.close();
    const catalog = await openCatalog(place.url, { thread: false });
    expect((await catalog.lookup.key(hash))?.key).toMatchObject({
      ...{ keyId: key, scope: 'write', demo: false, rotatedTo: null },
    });
    expect(await catalog.deliveries.byArtifact(artifact)).toMatchObject({ secretId: null });
    await catalog.close();
    await place.remove();
  });

  it('add what is missing and leave nothing of a step that fails', async () => {
    const place = await tempCatalog();
    const connection = connectWriter(place.path);
    const db = kyselyOn(connection);
    const tables = () =>
      connection.prepare(`select name from sqlite_schema where name like 'extra%'`).pluck().all();
    const make = (name: string, fails = false) => ({
      name,
      async up(trx: Parameters<(typeof migrations)[0]['up']>[0]) {
        await trx.schema.createTable(name).addColumn('id', 'integer').execute();
        if (fails) throw new Error('no');
      },
    });
    await migrate(db, sqliteDialect);
    const broken = [...migrations, make('extra_1'), make('extra_2', true)];
    await expect(migrate(db, sqliteDialect, broken)).rejects.toThrow('no');
    expect(tables()).toEqual([]);
    await migrate(db, sqliteDialect, [...migrations, make('extra_1')]);
    expect(tables()).toEqual(['extra_1']);
    connection.close();
    await place.remove();
  });

  it('an older program refuses a newer schema with one line', async () => {
    const place = await tempCatalog();
    await (await openCatalog(place.url, { thread: false })).close();
    const connection = connectWriter(place.path);
    const newer = [...migrations, { name: 'next', up: async () => {} }];
    await migrate(kyselyOn(connection), sqliteDialect, newer);
    connection.close();
    for (const thread of [true, false]) {
      const error = await openCatalog(place.url, { thread }).catch((e) => e);
      expect(error).toBeInstanceOf(CatalogRefusal);
      expect(error.code).toBe('schema_newer');
      expect(error.message).toMatch(/^The catalog has schema \d+, this program knows \d+: .*\.$/);
    }
    await place.remove();
  });
});

describe('the address', () => {
  it('of a Postgres that is not there is told from one that cannot be', async () => {
    const opened = openCatalog('postgres://u:p@127.0.0.1:1/weir', { thread: true });
    await expect(opened).rejects.toThrow(CatalogAway);
    for (const url of ['sqlite:relative.db', '/a/path', 'mysql://x']) {
      const opened = openCatalog(url, { thread: true });
      await expect(opened).rejects.toMatchObject({ code: 'catalog_url' });
    }
  });
});

describe('SQLite', () => {
  it('syncs every commit to disk, in WAL mode', async () => {
    const place = await tempCatalog();
    const connection = connectWriter(place.path);
    expect(connection.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(connection.pragma('synchronous', { simple: true })).toBe(2); // FULL
    expect(connection.pragma('foreign_keys', { simple: true })).toBe(1);
    connection.close();
    await place.remove();
  });

  it('finds what waits by the small index, never by a walk over all deliveries', async () => {
    const place = await tempCatalog();
    const catalog = await openCatalog(place.url, { thread: false });
    const { sourceId } = await seedSource(catalog);
    await store(catalog, claimFor(sourceId));
    const db = new Sqlite(place.path, { readonly: true });
    const plan = (text: string, values: readonly unknown[]) =>
      (db.prepare(`explain query plan ${text}`).all(values) as { detail: string }[])
        .map((row) => row.detail)
        .join('; ');
    for (const [which, index] of [
      ['first', 'deliveries_waiting'],
      ['next', 'deliveries_reparsing'],
    ] as const) {
      const byTheIndex = `SCAN deliveries USING COVERING INDEX ${index}`;
      const due = dueQuery(kyselyOn(db), which, 5_000, 9).compile();
      expect(plan(due.sql, due.parameters)).toBe(byTheIndex);
      const backlog = backlogQuery(kyselyOn(db), which).compile();
      expect(plan(backlog.sql, backlog.parameters)).toBe(byTheIndex);
    }
    db.close();
    await catalog.close();
    await place.remove();
  });
});
