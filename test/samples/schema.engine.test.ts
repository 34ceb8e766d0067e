import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClickHouseAddress } from '../../src/samples/address.ts';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { connect } from '../../src/samples/client.ts';
import { freshSamples } from '../../src/samples/fresh.ts';
import { singleLayout } from '../../src/samples/layout.ts';
import { migrationsOf } from '../../src/samples/migrations.ts';
import { type SampleStore, SchemaTooNew } from '../../src/samples/samples.ts';
import { encode, freshEngine, read, samplesOnly } from './support.ts';

const migrations = migrationsOf(singleLayout);

let engine: ClickHouseAddress;
let remove: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshEngine();
  engine = fresh.engine.address;
  remove = fresh.remove;
});
afterAll(() => remove());

let address: ClickHouseAddress;
let client: ClickHouseClient;
let store: SampleStore;
let databases = 0;
beforeEach(() => {
  address = { ...engine, database: `schema_${databases++}` };
  client = connect(address, address.database);
  store = openSamples(address);
});
afterEach(async () => {
  await client.close();
  await store.close();
});

const rows = async <T>(query: string) =>
  await (await client.query({ query, format: 'JSONEachRow' })).json<T>();

const tables = async () => {
  const found = await rows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  return found.map(({ name }) => name);
};

const allTables = [
  ...['delivery_generations', 'fill_rejections', 'fill_reparsed_versions', 'fill_sample_versions'],
  ...[
    'fill_samples',
    'rejection_inbox',
    'rejections',
    'sample_inbox',
    'sample_versions',
    'samples',
  ],
  ...['schema_versions', 'version_inbox'],
];

describe('preparing', () => {
  test('many times at once leaves one schema, and the store works', async () => {
    const stores = Array.from({ length: 8 }, () => openSamples(address));
    await Promise.all(stores.map((one) => one.prepare()));
    expect(await tables()).toEqual(allTables);
    const versions = await rows('SELECT version FROM schema_versions FINAL ORDER BY version');
    expect(versions).toEqual(migrations.map(({ version }) => ({ version })));
    const sourceId = randomUUID();
    const samples = [{ day: 1, value: '1' }];
    await stores[0]!.insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    expect(await read(stores[7]!, { sourceId })).toHaveLength(1);
    await Promise.all(stores.map((one) => one.close()));
  });

  test('finishes what a process that died half-way had begun', async () => {
    const outside = connect(address, null);
    await outside.command({ query: `CREATE DATABASE ${address.database}` });
    await outside.close();
    for (const query of migrations[0]!.statements.slice(0, 3)) await client.command({ query });
    await store.prepare();
    expect(await tables()).toEqual(allTables);
  });

  test('a schema of a newer weir is refused with one clear line', async () => {
    await store.prepare();
    await client.command({ query: 'INSERT INTO schema_versions (version) VALUES (99)' });
    const refused = openSamples(address).prepare();
    await expect(refused).rejects.toThrow(SchemaTooNew);
    await expect(refused).rejects.toThrow(
      `the sample store has schema 99, this program knows ${migrations.at(-1)!.version}:` +
        ' start a newer weir',
    );
  });

  test('every table that holds rows is synced to the disk by each insert', async () => {
    await store.prepare();
    const lazy = await rows(
      `SELECT name FROM system.tables WHERE database = currentDatabase()
         AND engine LIKE '%MergeTree' AND NOT (engine_full LIKE '%fsync_after_insert = 1%'
           AND engine_full LIKE '%fsync_part_directory = 1%')`,
    );
    expect(lazy).toEqual([]);
  });

  test('a rebuild makes the tables as this program makes them, whatever they were', async () => {
    await store.prepare();
    const made = async (table: string) => {
      const query = `SHOW CREATE TABLE ${table}`;
      const [found] = await rows<{ statement: string }>(query);
      return found!.statement.slice(found!.statement.indexOf('('));
    };
    const asNew = await made('samples');
    expect(asNew).toContain('index_granularity = 1024');
    const before = asNew.slice(asNew.indexOf('ENGINE')).replace('1024', '8192');
    await client.command({ query: `CREATE TABLE older AS samples ${before}` });
    await client.command({ query: 'EXCHANGE TABLES samples AND older' });
    expect(await made('samples')).not.toBe(asNew);
    const fresh = freshSamples({ client, at: singleLayout });
    await fresh.begin();
    for (const table of ['sample_versions', 'rejections', 'delivery_generations']) {
      expect(await made(`${table}_fresh`)).toBe(await made(table));
    }
    await fresh.swap();
    expect(await made('samples')).toBe(asNew);
    await fresh.drop();
  });
});

describe('what the tables allow', () => {
  const sourceId = randomUUID();
  const day = 20_000;
  const sample = (sequence: number, generation = 0) =>
    encode({
      sourceId,
      sequence,
      generation,
      samples: [{ day, value: `${sequence}.${generation}` }],
    });
  const insertInto = (table: string, sequence: number, more: Record<string, number>) =>
    client.insert({
      table,
      columns: [
        ...(['source_id', 'newest_first', 'metric', 'labels_json', 'sandbox', 'value'] as const),
        ...['artifact_id', 'sequence', 'generation', 'record', ...Object.keys(more)],
      ],
      values: [
        [
          ...[sourceId, -day, 'revenue', '{}', false, `${sequence}.x`],
          ...[randomUUID(), sequence, 1, 1, ...Object.values(more)],
        ],
      ],
      format: 'JSONCompactEachRow',
    });
  const values = async () => (await read(store, { sourceId })).map((s) => s.value);

  test('every row ever inserted stays in sample_versions, in version order', async () => {
    await store.prepare();
    for (const sequence of [2, 3, 1, 2]) {
      await store.insert(
        samplesOnly(
          encode({
            ...{ sourceId, sequence, artifactId: '0190b2d0-7a3a-7000-8000-000000000001' },
            samples: [{ day, value: `${sequence}` }],
          }),
        ),
      );
    }
    const found = await rows<{ value: string }>(
      'SELECT value FROM sample_versions FINAL ORDER BY version',
    );
    expect(found.map((row) => row.value)).toEqual(['1', '2', '3']);
    expect(await values()).toEqual(['3']);
  });

  test('a row in sample_versions alone is not readable, until it is put into samples', async () => {
    await store.prepare();
    await store.insert(samplesOnly(sample(1)));
    await insertInto('sample_versions', 1, {});
    expect(await values()).toEqual(['1.0']);
    await client.command({
      query: `INSERT INTO samples (source_id, newest_first, metric, labels_json, sandbox, value,
          artifact_id, sequence, generation, record)
        SELECT source_id, newest_first, metric, labels_json, sandbox, value,
          artifact_id, sequence, generation, record
        FROM sample_versions WHERE generation = 1`,
    });
    expect(await values()).toEqual(['1.x']);
  });

  test('a tombstone hides what it supersedes; a row can return with a later version', async () => {
    await store.prepare();
    await store.insert(samplesOnly(sample(1), sample(2)));
    expect(await values()).toEqual(['2.0']);
    await insertInto('samples', 2, { is_deleted: 1 });
    expect(await values()).toEqual([]);
    const [found] = await rows<{ later: string }>(
      'SELECT toString(max(version) + 1) AS later FROM samples',
    );
    await client.command({
      query: `INSERT INTO samples (source_id, newest_first, metric, labels_json, sandbox, value,
          artifact_id, sequence, generation, record, version)
        SELECT source_id, newest_first, metric, labels_json, sandbox, value,
          artifact_id, sequence, generation, record, toUInt128('${found!.later}')
        FROM sample_versions WHERE sequence = 1`,
    });
    expect(await values()).toEqual(['1.0']);
    await store.insert(samplesOnly(sample(3)));
    expect(await values()).toEqual(['3.0']);
  });

  test('a rebuild fills a fresh table while every insert goes to both, then swaps', async () => {
    await store.prepare();
    await store.insert(samplesOnly(sample(1)));
    await client.command({ query: 'CREATE TABLE samples_fresh AS samples' });
    await client.command({
      query: `CREATE MATERIALIZED VIEW fill_fresh TO samples_fresh AS SELECT source_id,
        newest_first, metric, labels_json, sandbox, value, artifact_id, sequence, generation,
        record, is_deleted FROM sample_inbox`,
    });
    await store.insert(samplesOnly(sample(2)));
    const fresh = await rows<{ value: string }>('SELECT value FROM samples_fresh');
    expect([fresh.map((row) => row.value), await values()]).toEqual([['2.0'], ['2.0']]);
    await client.command({ query: 'EXCHANGE TABLES samples AND samples_fresh' });
    await client.command({ query: 'DROP VIEW fill_fresh SYNC' });
    await client.command({ query: 'DROP TABLE samples_fresh SYNC' });
    await store.insert(samplesOnly(sample(3)));
    expect(await values()).toEqual(['3.0']);
    const kept = await rows<{ value: string }>('SELECT value FROM samples ORDER BY version');
    expect(kept.map((row) => row.value)).toEqual(['2.0', '3.0']);
  });

  test('a day that no sample can have is refused by the database as well', async () => {
    await store.prepare();
    const wrong = encode({ sourceId, sequence: 1, samples: [{ day: 200_000, value: '1' }] });
    await expect(store.insert(samplesOnly(wrong))).rejects.toThrow(/days_1900_to_2299/);
  });
});
