import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the configuration of an engine with clusters: of itself (`weir`), of itself and of a
 * shard that is away (`torn`), and of itself and a copy that is away (`twice`).
 *
 * @returns its path
 */
export function writeClusters(directory: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'clusters.xml');
  const [here, away] = [replica('127.0.0.1', 9000), replica('127.0.0.2', 9)];
  writeFileSync(
    path,
    `<clickhouse>
  <tcp_port>9000</tcp_port>
  <macros><shard>01</shard><replica>here</replica></macros>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <remote_servers>
    <weir>${shard(here)}</weir>
    <torn>${shard(here)}${shard(away)}</torn>
    <twice>${shard(here + away)}</twice>
  </remote_servers>
</clickhouse>
`,
  );
  return path;
}

const replica = (host: string, port: number) =>
  `<replica><host>${host}</host><port>${port}</port></replica>`;

const shard = (replicas: string) =>
  `<shard><internal_replication>true</internal_replication>${replicas}</shard>`;
