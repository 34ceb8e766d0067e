import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { reach } from './client.ts';
import { migrations } from './migrations.ts';
import { SchemaTooNew } from './samples.ts';

const versionTable = `
  CREATE TABLE IF NOT EXISTS schema_versions (
    version UInt32,
    applied_at DateTime64(3) DEFAULT now64(3)
  ) ENGINE = ReplacingMergeTree ORDER BY version
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Makes the database when it is missing. `client` must not name it as its own database. */
export async function prepareDatabase(client: ClickHouseClient, database: string): Promise<void> {
  // Asked first: a user who may not create databases may well use one that is there.
  const found = await number(
    client,
    'SELECT count() AS number FROM system.databases WHERE name = {database:String}',
    { database },
  );
  if (found > 0) return;
  await command(client, 'CREATE DATABASE IF NOT EXISTS {database:Identifier}', { database });
}

/**
 * Brings the tables up to date.
 *
 * Ordering. A version is recorded after all its statements ran, so a version that is recorded is
 * there. Several processes may do this at once and any of them may die in between: ClickHouse has
 * no lock to take, so every statement can be repeated, and each process runs all of them itself
 * before its first insert.
 *
 * @throws SamplesAway when ClickHouse cannot be reached
 * @throws SchemaTooNew when the tables are of a later version than this program knows
 */
export async function prepareTables(client: ClickHouseClient): Promise<void> {
  await command(client, versionTable);
  const current = await number(client, 'SELECT max(version) AS number FROM schema_versions');
  const known = migrations.at(-1)!.version;
  if (current > known) {
    throw new SchemaTooNew(
      `the sample store has schema ${current}, this program knows ${known}: start a newer weir`,
    );
  }
  for (const { version, statements } of migrations) {
    if (version <= current) continue;
    for (const statement of statements) await command(client, statement);
    await reach(() =>
      client.insert({
        table: 'schema_versions',
        columns: ['version'],
        values: [[version]],
        format: 'JSONCompactEachRow',
      }),
    );
  }
}

type Params = Readonly<Record<string, string>>;

/** The one number that a query answers, in a column of that name. */
async function number(client: ClickHouseClient, query: string, params: Params = {}) {
  return await reach(async () => {
    const answer = await client.query({ query, query_params: params, format: 'JSONEachRow' });
    const rows = await answer.json<{ number: number | string }>();
    return Number(rows[0]?.number ?? 0);
  });
}

async function command(client: ClickHouseClient, query: string, params: Params = {}) {
  try {
    await reach(() => client.command({ query, query_params: params }));
  } catch (error) {
    // TABLE_ALREADY_EXISTS: another process made it between the check and the making.
    if (!(error instanceof ClickHouseError && error.code === '57')) throw error;
  }
}
