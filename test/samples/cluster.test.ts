import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { connect } from '../../src/samples/client.ts';
import { openExplorer } from '../../src/samples/explore.ts';
import { forgetStatements } from '../../src/samples/forget.ts';
import {
  dropStatements,
  freshSamples,
  freshStatements,
  swapStatement,
} from '../../src/samples/fresh.ts';
import { durably } from '../../src/samples/insert-rows.ts';
import { type Layout, layoutOf } from '../../src/samples/layout.ts';
import { migrationsOf } from '../../src/samples/migrations.ts';
import { openProof } from '../../src/samples/open-proof.ts';
import { type SampleStore, SamplesAway } from '../../src/samples/samples.ts';
import { namesOf, versionTable } from '../../src/samples/schema.ts';
import { clusterEngine } from './cluster-support.ts';
import { encode, encodeRejections, read, samplesOnly } from './support.ts';

let engine: Awaited<ReturnType<typeof clusterEngine>>;
beforeAll(async () => {
  engine = await clusterEngine();
});
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
  await engine.remove();
});

const day = 20_000;
const everyDay = { fromDay: day, toDay: day + 1 };

async function ask<T>(client: ClickHouseClient, query: string): Promise<T[]> {
  return await (await client.query({ query, format: 'JSONEachRow' })).json<T>();
}

async function opened(cluster: 'weir' | 'torn' | 'twice', database: string) {
  const address = engine.at(cluster, database);
  const [store, client, proof] = [openSamples(address), connect(address, null), openProof(address)];
  ends.push(async () => {
    await Promise.all([store.close(), client.close(), proof.close()]);
  });
  await store.prepare();
  return { address, at: layoutOf(address), store, client, proof };
}

describe('statements of a cluster', () => {
  const at = () => layoutOf(engine.at('weir', 'replicated'));
  const definitions = () => [
    versionTable(at()),
    ...migrationsOf(at()).flatMap(({ statements }) => statements),
    ...freshStatements(at(), 'another'),
  ];

  test('can all be read by the engine, as the nodes would get them', async () => {
    const client = connect(engine.at('weir', 'default'), null);
    ends.push(() => client.close());
    const plain = [...definitions(), ...dropStatements(at()), swapStatement(at())];
    const forget = { sourceId: randomUUID(), generation: 2 };
    const statements = [...plain.map((query) => ({ query })), ...forgetStatements(at(), forget)];
    for (const { query, ...params } of statements) {
      const explained = await client.query({ query: `EXPLAIN AST ${query}`, ...params });
      expect(await explained.text()).toMatch(/(Create|Drop|Rename|Alter)\w*/);
    }
    await expect(
      client.query({ query: 'EXPLAIN AST CREATE TABLE t ON `weir` (x)' }),
    ).rejects.toThrow();
  });

  test('make replicated tables that the engine takes, and exchange them', async () => {
    const client = connect(engine.at('weir', 'replicated'), null);
    ends.push(() => client.close());
    await client.command({ query: 'CREATE DATABASE replicated' });
    const within = connect(engine.at('weir', 'replicated'), 'replicated');
    ends.push(() => within.close());
    for (const query of definitions()) await within.command({ query });
    const replicated = await ask(
      client,
      `SELECT name FROM system.tables
       WHERE database = 'replicated' AND startsWith(engine, 'Replicated')`,
    );
    expect(replicated).toHaveLength(1 + 4 + 4 + 1);
    const [first] = await ask<{ number: string }>(client, at().lacking(namesOf(at()))!);
    expect(Number(first!.number)).toBe(0);
    const sets = async () =>
      Object.fromEntries(
        (await ask<{ name: string; set: string }>(client, at().sets!)).map((s) => [s.name, s.set]),
      );
    expect(await sets()).toMatchObject({ samples: 'first', samples_fresh: 'another' });
    await within.command({ query: swapStatement(at()) });
    const [other] = await ask<{ number: string }>(client, at().disagreeing!);
    expect(Number(other!.number)).toBe(0);
    const swapped = await sets();
    expect(swapped).toMatchObject({ samples: 'another', samples_fresh: 'first' });
    // A node that comes later makes the tables that the others have: of the same paths.
    const again = migrationsOf(at(), (table) => swapped[table]!).flatMap((one) => one.statements);
    expect(again.find((text) => text.includes('samples_local` ON'))).toContain('/samples/another');
    await within.command({ query: 'DROP VIEW fill_samples SYNC' });
    const [lacking] = await ask<{ number: string }>(client, at().lacking(namesOf(at()))!);
    expect(Number(lacking!.number)).toBe(1);
    for (const query of again) await within.command({ query });
    const [healed] = await ask<{ number: string }>(client, at().lacking(namesOf(at()))!);
    expect(Number(healed!.number)).toBe(0);
  });
});

describe('a rebuild on a cluster', () => {
  test('fills, compares, exchanges and drops the second set', async () => {
    const { store, proof, client } = await opened('weir', 'rebuilt');
    const [sourceId, artifactId] = [randomUUID(), randomUUID()];
    const given = (sequence: number, value: string, generation = 0) =>
      encode({ sourceId, sequence, generation, artifactId, samples: [{ day, value }] });
    await store.insert(samplesOnly(given(1, '1')));
    const { fresh, differences, history } = proof;
    await fresh.begin();
    await fresh.insert({ ...samplesOnly(given(1, '1')), reparsed: [given(2, '2.1', 1)] });
    await fresh.insert(encodeRejections(artifactId, 0, [rejection]));
    await fresh.noteGenerations([{ sourceId, artifactId, sequence: 2, generation: 1 }]);
    // Whatever any process inserts goes to both.
    await store.insert(samplesOnly(given(3, '3')));
    expect(await fresh.totals()).toEqual({ samples: 1, rejections: 1 });

    const stretches = await differences.stretches();
    expect(stretches).toHaveLength(1);
    const months = await differences.months('versions', stretches[0]!);
    expect(months.map((one) => [one.sourceId, one.rows])).toEqual([[sourceId, 3]]);
    const found = await differences.samples(months[0]!, 10);
    expect(found.map((one) => [one.stored, one.made?.value])).toEqual([[null, '2.1']]);
    expect(await differences.months('samples', stretches[0]!)).toEqual([]);
    expect(await differences.rejections(10)).toEqual([]);
    expect(await differences.generations(10)).toMatchObject([{ sequence: 2, stored: 0, made: 1 }]);

    await fresh.swap();
    await fresh.drop();
    const [sample] = await history.find(
      { sourceId, metric: 'revenue', day, labels: {}, sandbox: false },
      5,
    );
    expect(sample).toMatchObject({ value: '3', artifactId });
    const versions = await history.versions(sample!, 5);
    expect(versions.map((one) => one.value)).toEqual(['3', '2.1', '1']);
    await store.insert(samplesOnly(given(4, '4')));
    expect((await read(store, { sourceId })).map((one) => one.value)).toEqual(['4']);
    const left = await ask(
      client,
      "SELECT name FROM system.tables WHERE database = 'rebuilt' AND match(name, 'fresh|rebuild')",
    );
    expect(left).toEqual([]);
  });
});

const rejection = {
  record: 1,
  line: 2,
  field: 'amount',
  code: 'number_invalid',
  message: 'no',
} as const;

describe('a rebuild whose nodes have not all exchanged', () => {
  test('makes, exchanges and drops nothing', async () => {
    const { at, client } = await opened('weir', 'halves');
    const half: Layout = { ...at, disagreeing: 'SELECT 2 AS number' };
    const tables = () =>
      ask(client, "SELECT name, uuid FROM system.tables WHERE database = 'halves'");
    const before = await tables();
    const fresh = freshSamples({ client, at: half });
    for (const step of ['begin', 'swap', 'drop'] as const) {
      await expect(fresh[step]()).rejects.toThrow(/have not all exchanged the tables/);
    }
    expect(await tables()).toEqual(before);
  });
});

describe('while a shard is away', () => {
  let torn: Awaited<ReturnType<typeof opened>>;
  let store: SampleStore;
  beforeAll(async () => {
    torn = await opened('torn', 'torn');
    store = torn.store;
  });
  /** An id whose rows lie on the shard that is here (0) or on the one that is away (1). */
  async function idOn(shard: 0 | 1): Promise<string> {
    for (;;) {
      const id = randomUUID();
      const [found] = await ask<{ shard: number }>(
        torn.client,
        `SELECT toUInt8(cityHash64(toUUID('${id}')) % 2) AS shard`,
      );
      if (found!.shard === shard) return id;
    }
  }
  const sample = (sourceId: string, sequence: number, value: string, generation = 0) =>
    encode({ sourceId, sequence, generation, samples: [{ day, value }] });

  test('whatever is asked of one source is asked of its shard alone', async () => {
    const [sourceId, artifactId] = [await idOn(0), await idOn(0)];
    await store.insert(samplesOnly(sample(sourceId, 1, '1')));
    await store.insert(encodeRejections(artifactId, 0, [rejection]));
    expect(await store.rejections({ artifactId, generation: 0, limit: 5 })).toHaveLength(1);
    await store.insert({ ...samplesOnly(), reparsed: [sample(sourceId, 1, '1.1', 1)] });
    const deliveries = [{ sequence: 1, generation: 1 }];
    await store.settle({ sourceId, number: 7, reparsedUpTo: 1, deliveries });
    expect((await read(store, { sourceId })).map(({ value }) => value)).toEqual(['1.1']);
    const lines: Buffer[] = [];
    for await (const chunk of store.generation({ sourceId, sequence: 1, generation: 1 })) {
      lines.push(chunk);
    }
    expect(Buffer.concat(lines).toString()).toContain('\t1.1\n');

    const { history } = torn.proof;
    const query = { sourceId, metric: 'revenue', day, labels: {}, sandbox: false };
    const [found] = await history.find(query, 5);
    expect(await history.versions(found!, 5)).toHaveLength(2);

    const explorer = openExplorer(torn.address);
    ends.push(() => explorer.close());
    expect(await explorer.metrics(sourceId)).toHaveLength(1);
    expect(await explorer.labelSets(sourceId, 'revenue', 5)).toEqual(['{}']);
    const filter = { sourceId, ...everyDay, labels: {}, sandbox: false };
    const drawn = await explorer.series({ filter, seriesMax: 5, pointsMax: 5 });
    expect(drawn.series).toHaveLength(1);
    expect(await explorer.page(filter, { limit: 5 })).toHaveLength(1);
  });

  test('a source of that shard is away, never empty', async () => {
    const sourceId = await idOn(1);
    await expect(store.insert(samplesOnly(sample(sourceId, 1, '1')))).rejects.toThrow(SamplesAway);
    await expect(read(store, { sourceId })).rejects.toThrow(SamplesAway);
    const settled = store.settle({
      ...{ sourceId, number: 8, reparsedUpTo: 1 },
      deliveries: [{ sequence: 1, generation: 0 }],
    });
    await expect(settled).rejects.toThrow(SamplesAway);
  });

  test('an insert of sources on both fails, and may be repeated', async () => {
    const [here, away] = [await idOn(0), await idOn(1)];
    const rows = samplesOnly(sample(here, 1, '1'), sample(away, 1, '1'));
    await expect(store.insert(rows)).rejects.toThrow(SamplesAway);
    await store.insert(samplesOnly(sample(here, 1, '1')));
    expect(await read(store, { sourceId: here })).toHaveLength(1);
  });

  test('nothing is compared by halves', async () => {
    for (const query of freshStatements(torn.at, 'by hand')) await torn.client.command({ query });
    await expect(torn.proof.differences.stretches()).rejects.toThrow(SamplesAway);
    for (const query of dropStatements(torn.at)) await torn.client.command({ query });
  });

  test('nothing is rebuilt', async () => {
    for (const step of ['begin', 'swap', 'drop'] as const) {
      await expect(torn.proof.fresh[step]()).rejects.toThrow(SamplesAway);
    }
  });
});

describe('copies', () => {
  test('an insert counts when every copy has it; reads go on while one is away', async () => {
    const { store, client, at } = await opened('twice', 'twice');
    expect(await durably({ client, at })).toMatchObject({ insert_quorum: 2, async_insert: 0 });
    const sourceId = randomUUID();
    await store.insert(
      samplesOnly(encode({ sourceId, sequence: 1, samples: [{ day, value: '1' }] })),
    );
    for (let i = 0; i < 4; i++) expect(await read(store, { sourceId })).toHaveLength(1);
  });

  test('a cluster that the server does not know is said so', async () => {
    const address = { ...engine.at('weir', 'nowhere'), cluster: 'nowhere' };
    const client = connect(address, null);
    ends.push(() => client.close());
    await expect(durably({ client, at: layoutOf(address) })).rejects.toThrow(/does not know/);
  });
});
