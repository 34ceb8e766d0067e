import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Catalog,
  CatalogAway,
  CatalogRefusal,
  type Claim,
} from '../../src/catalog/catalog.ts';
import { migrate } from '../../src/catalog/migrate.ts';
import { migrations } from '../../src/catalog/migrations/list.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { begin, kyselyOn, openPool } from '../../src/catalog/postgres/connect.ts';
import { partSpan, postgresDialect } from '../../src/catalog/postgres/dialect.ts';
import { describeWith } from '../support/need.ts';
import { type Postgres, postgresOrSkip, startPostgres } from '../support/postgres.ts';
import { claimFor, newKey, seedSource, store } from './support.ts';

/** What several nodes on one Postgres rely on, beyond the contract of every catalog. */
describeWith('nodes on one Postgres', await postgresOrSkip(), (bin) => {
  let server: Postgres;
  const open = (url: string) => openCatalog(url, { thread: true });
  /** So many nodes on a catalog of their own. */
  async function nodes(count: number) {
    const url = await server.database();
    const all: Catalog[] = [];
    for (let i = 0; i < count; i++) all.push(await open(url));
    return { url, all, close: () => Promise.all(all.map((one) => one.close())) };
  }
  beforeAll(async () => {
    server = await startPostgres(bin);
  });
  afterAll(() => server.stop());

  test('migrate once, however many start on a new catalog at the same time', async () => {
    const url = await server.database();
    const all = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    await seedSource(all[4]!);
    await Promise.all(all.map((one) => one.close()));
    const { rows } = await server.run(
      new URL(url).pathname.slice(1),
      'select number::int, name from catalog_migrations order by number',
    );
    expect(rows).toEqual(migrations.map((step, i) => ({ number: i + 1, name: step.name })));
  });

  test('an older program refuses a newer schema with one line', async () => {
    const { url, close } = await nodes(1);
    await close();
    const pool = openPool(url, 1);
    const newer = [...migrations, { name: 'next', up: async () => {} }];
    await migrate(kyselyOn(pool, 'alone'), postgresDialect, newer);
    await pool.end();
    await expect(open(url)).rejects.toMatchObject({ code: 'schema_newer' });
  });

  test('a duplicate storm over two nodes gives one delivery a key, in one order', async () => {
    const { all, close } = await nodes(2);
    const { sourceId } = await seedSource(all[0]!);
    const keys = Array.from({ length: 50 }, () => randomUUID());
    const verdicts = await Promise.all(
      Array.from({ length: 16 }, (_, sender) =>
        Promise.all(
          keys.map((idempotencyKey) =>
            all[sender % 2]!.ledger.record(claimFor(sourceId, { idempotencyKey })),
          ),
        ),
      ),
    );
    const stored = verdicts.flat().filter((one) => one.outcome === 'stored');
    expect(stored).toHaveLength(keys.length);
    expect(new Set(stored.map((one) => one.sequence)).size).toBe(keys.length);
    for (const [i, key] of keys.entries()) {
      const ids = verdicts.map((of) => idOf(of[i]!));
      expect(new Set(ids), key).toHaveProperty('size', 1);
    }
    await close();
  });

  test('a key is refused by the next look-up after its revocation, on every node', async () => {
    const { all, close } = await nodes(2);
    const { sourceId } = await seedSource(all[0]!);
    for (let round = 0; round < 20; round++) {
      const key = newKey(sourceId);
      await all[0]!.directory.createKey(key, 1);
      let looking = true;
      // The other node asks all the time, as under load.
      const load = Promise.all(
        Array.from({ length: 8 }, async () => {
          while (looking) await all[1]!.lookup.key(key.hash);
        }),
      );
      await all[0]!.directory.revokeKey(key.keyId, 5_000);
      const seen = await all[1]!.lookup.key(key.hash);
      looking = false;
      await load;
      expect(seen?.key.revokedAt).toBe(5_000);
    }
    await close();
  });

  test('two nodes never claim the same delivery, and leave none', async () => {
    const { all, close } = await nodes(2);
    const { sourceId } = await seedSource(all[0]!);
    await Promise.all(Array.from({ length: 60 }, () => store(all[0]!, claimFor(sourceId))));
    const want = { limit: 7, bytesMax: 1e9, leaseMs: 60_000, now: 10_000 };
    const claimed: string[] = [];
    const work = async (node: Catalog) => {
      // What the other node holds just now is passed over, so nothing may be found for a moment.
      while (claimed.length < 60) {
        for (const job of await node.queue.claim(want)) claimed.push(job.artifactId);
      }
    };
    await Promise.all([...all, ...all].map(work));
    expect(new Set(claimed).size).toBe(60);
    expect(claimed).toHaveLength(60);
    await close();
  });

  test('who parses is told when another node has stored a delivery', async () => {
    const { all, close } = await nodes(2);
    const { sourceId } = await seedSource(all[0]!);
    let told = 0;
    all[1]!.onQueued(() => {
      told += 1;
    });
    // Once as it begins to listen: what was stored before may have been missed.
    await expect.poll(() => told).toBe(1);
    await store(all[0]!, claimFor(sourceId));
    await expect.poll(() => told).toBe(2);
    await close();
  });

  test('deliveries go on into the next part when one is full, over restarts too', async () => {
    const { url, all, close } = await nodes(2);
    const { sourceId } = await seedSource(all[0]!);
    await all[0]!.upkeep.raiseSequence(partSpan - 4);
    const sequences = await Promise.all(
      Array.from({ length: 6 }, (_, i) => store(all[i % 2]!, claimFor(sourceId))),
    );
    expect(sequences.sort((a, b) => a - b)).toEqual([-3, -2, -1, 0, 1, 2].map((n) => partSpan + n));
    await close();
    const again = await open(url);
    expect(await store(again, claimFor(sourceId))).toBe(partSpan + 3);
    const claim = claimFor(sourceId);
    await store(again, claim);
    expect(await again.lookup.known({ ...claim, idempotencyKey: 'other' })).not.toBeNull();
    expect(await again.deliveries.list(sourceId, { limit: 20 })).toHaveLength(8);
    await again.close();
  });

  test('a node that stands still in a transaction loses it, and the others go on', async () => {
    const { url, all, close } = await nodes(1);
    const { sourceId } = await seedSource(all[0]!);
    const pool = openPool(url, 1);
    const still = await pool.connect();
    still.on('error', () => {});
    await still.query(begin.ledger);
    const began = performance.now();
    await store(all[0]!, claimFor(sourceId));
    expect(performance.now() - began).toBeGreaterThan(3_000);
    await expect(still.query('commit')).rejects.toThrow();
    still.release(true);
    await pool.end();
    await close();
  });

  test('a server that was killed is away, and is found again when it is back', async () => {
    const { all, close } = await nodes(1);
    const { sourceId } = await seedSource(all[0]!);
    const stored: Claim[] = [];
    let sending = true;
    // Under load: some connections are in the middle of a transaction, some between two.
    const senders = Array.from({ length: 8 }, async () => {
      while (sending) {
        const claim = claimFor(sourceId);
        await store(all[0]!, claim).then(() => stored.push(claim), expectAway);
      }
    });
    await expect.poll(() => stored.length).toBeGreaterThan(20);
    await server.kill();
    sending = false;
    await Promise.all(senders);
    await expect(all[0]!.ledger.record(claimFor(sourceId))).rejects.toThrow(CatalogAway);
    await expect(all[0]!.lookup.key(Buffer.alloc(32))).rejects.toThrow(CatalogAway);
    await expect(all[0]!.queue.backlog()).rejects.toThrow(CatalogAway);
    await server.restart();
    await expect
      .poll(() =>
        all[0]!.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    for (const claim of stored) expect(await all[0]!.lookup.known(claim)).not.toBeNull();
    await store(all[0]!, claimFor(sourceId));
    await close();
    await expect(all[0]!.ping()).rejects.toThrow(CatalogAway);
  });

  test('a server that would lose receipts with the power is refused', async () => {
    const loose = await startPostgres(bin, { settings: { fsync: 'off' } });
    const opened = open(await loose.database());
    await expect(opened).rejects.toThrow(CatalogRefusal);
    await expect(opened).rejects.toMatchObject({ code: 'catalog_not_durable' });
    await loose.stop();
  });

  test('commits are synced, whatever the configuration of the database says', async () => {
    const url = await server.database();
    const name = new URL(url).pathname.slice(1);
    await server.run('postgres', `alter database ${name} set synchronous_commit = off`);
    const pool = openPool(url, 1);
    const { rows } = await pool.query('show synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
    await pool.end();
  });
});

function expectAway(error: unknown): void {
  expect(error).toBeInstanceOf(CatalogAway);
}

type Verdict = Awaited<ReturnType<Catalog['ledger']['record']>>;

function idOf(verdict: Verdict): string {
  return (verdict.outcome === 'stored' ? verdict.receipt : verdict.known.receipt).artifactId;
}
