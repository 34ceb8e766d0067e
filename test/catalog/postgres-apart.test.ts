import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Catalog, CatalogAway, CatalogFull } from '../../src/catalog/catalog.ts';
import { migrate } from '../../src/catalog/migrate.ts';
import { type Migration, migrations } from '../../src/catalog/migrations/list.ts';
import { ofSourceBefore } from '../../src/catalog/of-source.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { begin, kyselyOn, openPool } from '../../src/catalog/postgres/connect.ts';
import { partSpan, postgresDialect } from '../../src/catalog/postgres/dialect.ts';
import { describeWith } from '../support/need.ts';
import { type Postgres, postgresOrSkip, startPostgres } from '../support/postgres.ts';
import { claimFor, seedSource, store } from './support.ts';

/** What holds on Postgres while somebody else is in the middle of something. */
describeWith('beside others on one Postgres', await postgresOrSkip(), (bin) => {
  let server: Postgres;
  let url: string;
  let catalog: Catalog;
  let pool: pg.Pool;
  let other: pg.PoolClient;
  let sourceId: string;
  beforeAll(async () => {
    server = await startPostgres(bin);
    url = await server.database();
    catalog = await openCatalog(url, { thread: true });
    ({ sourceId } = await seedSource(catalog));
    pool = openPool(url, 1);
    other = await pool.connect();
    await other.query('set idle_in_transaction_session_timeout = 0');
  });
  afterAll(async () => {
    other.release();
    await pool.end();
    await catalog.close();
    await server.stop();
  });

  /** Cancels what waits for `event`, as a time limit does. */
  async function cancel(event: string): Promise<void> {
    const name = new URL(url).pathname.slice(1);
    const canceled = async () => {
      const { rowCount } = await server.run(
        'postgres',
        `select pg_cancel_backend(pid) from pg_stat_activity
        where datname = '${name}' and wait_event = '${event}'`,
      );
      return rowCount;
    };
    await expect.poll(canceled).toBeGreaterThan(0);
  }

  test('who waited for a lock in vain leaves no connection in the middle of it', async () => {
    await other.query(begin.alone);
    const waiting = catalog.queue.extend([], 1);
    const away = expect(waiting).rejects.toThrow(CatalogAway);
    await cancel('advisory');
    await away;
    await other.query('commit');
    expect(await catalog.queue.backlog()).toMatchObject({ deliveries: 0 });
  });

  test.each([
    ['extends a turn', begin.alone, () => catalog.reparses.extendTurn(randomUUID(), 1)],
    ['raises the sequence', begin.ledger, () => catalog.upkeep.raiseSequence(1)],
  ])('who %s waits for those who judge by it', async (_, theirs, call) => {
    await other.query(theirs);
    let done = false;
    const called = call().then(() => {
      done = true;
    });
    await expect.poll(waitingForLocks).toBe(1);
    expect(done).toBe(false);
    await other.query('commit');
    await called;
  });

  async function waitingForLocks(): Promise<number> {
    const { rows } = await other.query('select 1 from pg_locks where not granted');
    return rows.length;
  }

  test('the configuration of a database makes nothing less sure', async () => {
    const own = await server.database();
    const name = new URL(own).pathname.slice(1);
    const isolation = 'set default_transaction_isolation = "repeatable read"';
    await server.run('postgres', `alter database ${name} ${isolation}`);
    const there = openPool(own, 1);
    await there.query(begin.ledger);
    const { rows } = await there.query('show transaction_isolation');
    expect(rows).toEqual([{ transaction_isolation: 'read committed' }]);
    await there.end();
    // The options of an address take the place of those that the program asks for.
    const loose = `${own}?options=-c%20synchronous_commit%3Doff`;
    const opened = openCatalog(loose, { thread: true });
    await expect(opened).rejects.toMatchObject({ code: 'catalog_not_durable' });
  });

  test('last uses are noted beside others', async () => {
    await other.query(begin['among others']);
    await catalog.directory.noteUses({ keys: [{ id: randomUUID(), at: 1 }], secrets: [] });
    await other.query('commit');
  });

  test('a delivery gets another name while its outcome is being written', async () => {
    const claim = claimFor(sourceId);
    const sequence = await store(catalog, claim);
    await other.query(begin['among others']);
    await other.query('select 1 from deliveries where sequence = $1 for no key update', [sequence]);
    const named = await catalog.ledger.replay({ ...claim, idempotencyKey: randomUUID() }, 1);
    expect(named?.by).toBe('body');
    await other.query('commit');
  });

  test('the next part is made before it is needed, and nobody waits for it then', async () => {
    await catalog.upkeep.raiseSequence(partSpan / 2);
    await store(catalog, claimFor(sourceId));
    const parts = async () => {
      const { rows } = await other.query(
        `select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'deliveries'::regclass order by 1`,
      );
      return rows.map((row) => row.name);
    };
    await expect.poll(parts).toEqual(['deliveries_0', 'deliveries_1']);
    await catalog.upkeep.raiseSequence(partSpan - 1);
    // As a vacuum does.
    await other.query('begin; lock table delivery_keys in share update exclusive mode');
    expect(await store(catalog, claimFor(sourceId))).toBe(partSpan);
    await other.query('commit');
  });

  test('a migration does not wait for a backup, for nobody else could do anything', async () => {
    await other.query('begin; lock table deliveries in access share mode');
    const next: Migration = {
      name: 'next',
      up: async (trx) => {
        await trx.schema.alterTable('deliveries').addColumn('next', 'text').execute();
      },
    };
    const patient = openPool(url, 1, true);
    const migrated = migrate(kyselyOn(patient, 'alone'), postgresDialect, [...migrations, next]);
    await expect(migrated).rejects.toMatchObject({ code: '55P03' });
    await patient.end();
    await other.query('commit');
  });

  test('the newest of a quiet source are found without reading all others', async () => {
    const { sourceId: quiet } = await seedSource(catalog);
    const sequence = await store(catalog, claimFor(quiet));
    const { rows } = await other.query('select max(id) as id from sources');
    // It was busy once; all that came lately is another source's.
    await other.query(
      `insert into deliveries (sequence, artifact_id, source_id, sandbox, receipt_shape_version,
        shape_version, generation, sha256, bytes, delivery, media_type, encoding, received_at,
        object, object_offset, object_length, status, due_at, failures, crashes)
      select n, gen_random_uuid(), case when n < $1::bigint + 5000 then $2::bigint else 1 end,
        false, 1, 1, 0, '', 1, 'push', 'text/csv', 'identity', 1, '', 0, 1, 'queued', 0, 0, 0
      from generate_series($1::bigint + 1, $1::bigint + 10000) as n`,
      [sequence, rows[0].id],
    );
    await other.query('analyze deliveries');
    const asking = openPool(url, 1);
    const plan = await kyselyOn(asking, 'alone')
      .selectFrom('deliveries')
      .selectAll()
      .where(ofSourceBefore(rows[0].id))
      .orderBy('source_id', 'desc')
      .orderBy('sequence', 'desc')
      .limit(10)
      .explain('json', sql`analyze`);
    await asking.end();
    const read = JSON.stringify(plan).matchAll(/"(?:Actual Rows|Rows Removed by Filter)":(\d+)/g);
    expect(Math.max(...[...read].map(([, rows]) => Number(rows)))).toBeLessThan(100);
  });

  test('a save takes as long as it takes to withdraw what it makes personal', async () => {
    await other.query(`create function limited() returns trigger language plpgsql as $$ begin
      if current_setting('statement_timeout') <> '0' then raise 'limited'; end if; return new;
      end $$`);
    await other.query(`create trigger limited before insert on shape_versions
      for each row execute function limited()`);
    const saved = catalog.directory.saveSource(sourceId, { name: 'Shop', savedBy: 'ada' }, 1);
    await expect(saved).resolves.toMatchObject({ shapeVersion: 2 });
    await other.query('drop trigger limited on shape_versions');
  });

  test('a commit that fails for want of room may hold', async () => {
    await other.query(`create function no_room() returns trigger language plpgsql as
      $$ begin raise 'no space left' using errcode = '53100'; end $$`);
    const make = (when: string) =>
      other.query(`create constraint trigger no_room after insert on delivery_bodies
        deferrable initially ${when} for each row execute function no_room()`);
    await make('deferred');
    const inDoubt = await catalog.ledger.record(claimFor(sourceId)).catch((error) => error);
    await other.query('drop trigger no_room on delivery_bodies');
    await make('immediate');
    const full = await catalog.ledger.record(claimFor(sourceId)).catch((error) => error);
    await other.query('drop trigger no_room on delivery_bodies');
    expect(inDoubt).toBeInstanceOf(CatalogAway);
    expect(inDoubt).not.toBeInstanceOf(CatalogFull);
    expect(full).toBeInstanceOf(CatalogFull);
  });
});

describe('a server that cannot be reached', () => {
  test('is away when it speaks no TLS', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('N')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `postgres://weir@127.0.0.1:${port}/weir?sslmode=verify-full`;
    await expect(openCatalog(url, { thread: true })).rejects.toThrow(CatalogAway);
    await new Promise((resolve) => server.close(resolve));
  });
});
