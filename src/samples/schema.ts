import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { migrations } from './migrations.ts';

/** The sample store's schema was made by a newer weir. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

const versionTable = `
  CREATE TABLE IF NOT EXISTS schema_versions (
    version UInt32,
    applied_at DateTime64(3) DEFAULT now64(3)
  ) ENGINE = ReplacingMergeTree ORDER BY version
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Makes the database when it is missing. `client` must not name it as its own database. */
export async function prepareDatabase(client: ClickHouseClient, database: string): Promise<void> {
  // Asked first: a user who may not create databases may well use one that is there.
  const answer = await client.query({
    query: 'SELECT count() AS found FROM system.databases WHERE name = {database:String}',
    query_params: { database },
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ found: number | string }>();
  if (Number(rows[0]?.found) > 0) return;
  await client.command({
    query: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
    query_params: { database },
  });
}

/**
 * Brings the tables up to date.
 *
 * Ordering. A version is recorded after all its statements ran, so a version that is recorded is
 * there. Several processes may do this at once and any of them may die in between: ClickHouse has
 * no lock to take, so every statement can be repeated, and each process runs all of them itself
 * before its first insert.
 *
 * @throws SchemaTooNew when the tables are of a later version than this program knows
 */
export async function prepareTables(client: ClickHouseClient): Promise<void> {
  await command(client, versionTable);
  const current = await currentVersion(client);
  const known = migrations.at(-1)!.version;
  if (current > known) {
    throw new SchemaTooNew(
      `the sample store has schema ${current}, this program knows ${known}: start a newer weir`,
    );
  }
  for (const { version, statements } of migrations) {
    if (version <= current) continue;
    for (const statement of statements) await command(client, statement);
    await client.insert({
      table: 'schema_versions',
      columns: ['version'],
      values: [[version]],
      format: 'JSONCompactEachRow',
    });
  }
}

async function currentVersion(client: ClickHouseClient): Promise<number> {
  const answer = await client.query({
    query: 'SELECT max(version) AS version FROM schema_versions',
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ version: number }>();
  return rows[0]?.version ?? 0;
}

async function command(client: ClickHouseClient, query: string): Promise<void> {
  try {
    await client.command({ query });
  } catch (error) {
    // TABLE_ALREADY_EXISTS: another process made it between the check and the making.
    if (!(error instanceof ClickHouseError && error.code === '57')) throw error;
  }
}
