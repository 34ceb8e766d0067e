import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { reach } from './client.ts';
import { numberOf, type Place } from './insert-rows.ts';
import type { Layout } from './layout.ts';
import { firstSet, type Migration, migrationsOf } from './migrations.ts';
import { SchemaTooNew } from './samples.ts';

/** The statement that makes the table of the versions. */
export const versionTable = (at: Layout) => `
  CREATE TABLE IF NOT EXISTS ${at.named('schema_versions')}${at.everywhere} (
    version UInt32,
    applied_at DateTime64(3) DEFAULT now64(3)
  ) ENGINE = ${at.engineOfAll('schema_versions', { family: 'Replacing' })} ORDER BY version
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Makes the database when it is missing. `client` must not name it as its own database. */
export async function prepareDatabase({ client, at }: Place, database: string): Promise<void> {
  // Asked first: a user who may not create databases may well use one that is there.
  const found = await numberOf(client, at.isDatabaseThere, { database });
  if (found > 0) return;
  await command(client, `CREATE DATABASE IF NOT EXISTS {database:Identifier}${at.everywhere}`, {
    database,
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
 * Nodes. One that came to the cluster later has no tables, whatever is recorded: all statements
 * are run again then, for the tables as they are on the others. What is there everywhere is not
 * made again, so that a process can start while a node is away.
 *
 * @throws SamplesAway when ClickHouse cannot be reached
 * @throws SchemaTooNew when the tables are of a later version than this program knows
 */
export async function prepareTables(place: Place): Promise<void> {
  const { client, at } = place;
  const current = await recorded(place);
  const known = migrationsOf(at).at(-1)!.version;
  if (current > known) {
    throw new SchemaTooNew(
      `the sample store has schema ${current}, this program knows ${known}: start a newer weir`,
    );
  }
  const lacking = at.lacking(namesOf(at));
  const isWhole = lacking === null || (await numberOf(client, lacking)) === 0;
  if (current === known && isWhole) return;
  const sets = await setsInUse(place);
  await command(client, versionTable(at));
  for (const migration of migrationsOf(at, (table) => sets.get(table) ?? firstSet)) {
    if (migration.version <= current && isWhole) continue;
    await apply(client, migration);
  }
}

async function apply(client: ClickHouseClient, { version, statements }: Migration): Promise<void> {
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

/** The latest version that is recorded; 0: none. */
async function recorded({ client }: Place): Promise<number> {
  const tables = await numberOf(
    client,
    `SELECT count() AS number FROM system.tables
     WHERE database = currentDatabase() AND name = 'schema_versions'`,
  );
  if (tables === 0) return 0;
  return await numberOf(client, 'SELECT max(version) AS number FROM schema_versions');
}

/** Every table and view that a node has to have. */
export function namesOf(at: Layout): string[] {
  const statements = [versionTable(at), ...migrationsOf(at).flatMap((one) => one.statements)];
  // The last part of a name, with or without the database before it.
  return statements.map((text) => /IF NOT EXISTS (?:\S+\.)?`?(\w+)`?/.exec(text)![1]!);
}

async function setsInUse({ client, at }: Place): Promise<ReadonlyMap<string, string>> {
  const query = at.sets;
  if (query === null) return new Map();
  return await reach(async () => {
    const answer = await client.query({ query, format: 'JSONEachRow' });
    const found = await answer.json<{ name: string; set: string }>();
    return new Map(found.map(({ name, set }) => [name, set]));
  });
}

async function command(
  client: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, string>> = {},
) {
  try {
    await reach(() => client.command({ query, query_params: params }));
  } catch (error) {
    // TABLE_ALREADY_EXISTS: another process made it between the check and the making.
    if (!(error instanceof ClickHouseError && error.code === '57')) throw error;
  }
}
