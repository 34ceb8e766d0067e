import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { addressFromUrl } from '../../src/samples/address.ts';
import { connect } from '../../src/samples/client.ts';
import { layoutOf } from '../../src/samples/layout.ts';
import { migrationsOf } from '../../src/samples/migrations.ts';
import { versionTable } from '../../src/samples/schema.ts';
import { clusterEngine } from './cluster-support.ts';

const pathOf = (name: string) =>
  fileURLToPath(new URL(`../../deploy/clickhouse/${name}`, import.meta.url));
const text = (name: string) => readFileSync(pathOf(name), 'utf8');

/** As whoever follows the file would write it. */
const url = /WEIR_CLICKHOUSE_URL=(\S+)/.exec(text('cluster.xml'))![1]!;
const address = addressFromUrl(url.replace('HOST', 'localhost'));

describe('deploy/clickhouse', () => {
  const env = { WEIR_SHARD: '02', WEIR_REPLICA: 'clickhouse-02-1', WEIR_CLUSTER_SECRET: 's' };
  let remove = async () => {};
  afterAll(() => remove());

  test('an engine reads the cluster of the URL in it, two shards of two, and macros', async () => {
    const engine = await clusterEngine({ path: pathOf('cluster.xml'), env });
    remove = engine.remove;
    const client = connect(engine.at('weir', 'default'), null);
    const ask = async (query: string) =>
      await (await client.query({ query, format: 'JSONCompactEachRow' })).json();
    const servers = await ask(
      `SELECT shard_num, replica_num, host_name, port, internal_replication FROM system.clusters
       WHERE cluster = '${address.cluster}' ORDER BY shard_num, replica_num`,
    );
    expect(servers).toEqual([
      [1, 1, 'clickhouse-01-1', 9000, 1],
      [1, 2, 'clickhouse-01-2', 9000, 1],
      [2, 1, 'clickhouse-02-1', 9000, 1],
      [2, 2, 'clickhouse-02-2', 9000, 1],
    ]);
    const at = layoutOf(address);
    const [[copies]] = (await ask(at.copies!)) as [[number | string]];
    expect(Number(copies)).toBe(2);
    const macros = Object.fromEntries((await ask('SELECT * FROM system.macros')) as string[][]);
    expect(macros).toEqual({ shard: '02', replica: 'clickhouse-02-1' });
    const made = [versionTable(at), ...migrationsOf(at).flatMap(({ statements }) => statements)];
    const used = made.flatMap((statement) => [...statement.matchAll(/\{(\w+)\}/g)]);
    expect(new Set(used.map((match) => match[1]))).toEqual(new Set(Object.keys(macros)));
    await client.close();
  });

  test('servers look for Keeper where it is, and nothing secret stands in the files', () => {
    const hosts = (name: string, pattern: RegExp) =>
      [...text(name).matchAll(pattern)].map((match) => match.slice(1).join(':'));
    const port = /<tcp_port>(\d+)</.exec(text('keeper.xml'))![1];
    const raft = hosts('keeper.xml', /<hostname>([\w-]+)</g).map((host) => `${host}:${port}`);
    const asked = hosts('cluster.xml', /<node><host>([\w-]+)<\/host><port>(\d+)</g);
    expect(asked).toEqual(raft);
    expect(asked).toHaveLength(3);
    for (const name of ['cluster.xml', 'users.xml', 'keeper.xml']) {
      expect(text(name)).not.toMatch(/<(?:secret|password\w*)>/);
    }
  });
});
