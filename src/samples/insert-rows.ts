import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { reach } from './client.ts';
import type { Layout, Settings } from './layout.ts';

/** A connection, and how the tables lie behind it. */
export interface Place {
  readonly client: ClickHouseClient;
  readonly at: Layout;
}

/**
 * Settings by which a write answers when what it wrote is durable, and readable wherever somebody
 * reads. The number of copies is asked for each time: a replica may be added or taken away.
 *
 * @throws Error when the server knows no such cluster
 */
export async function durably({ client, at }: Place): Promise<Settings> {
  // A server may be set up to answer before the rows are in; they must be durable then.
  const settings = { ...at.writing, async_insert: 0, wait_end_of_query: 1 };
  if (at.copies === null) return settings;
  const copies = await numberOf(client, at.copies);
  if (copies === 0) throw new Error('the ClickHouse server does not know the cluster of its URL');
  return { ...settings, insert_quorum: copies };
}

/** The one number that a query answers, in a column of that name. */
export async function numberOf(
  client: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, string>> = {},
): Promise<number> {
  return await reach(async () => {
    const answer = await client.query({ query, query_params: params, format: 'JSONEachRow' });
    const rows = await answer.json<{ number: number | string }>();
    return Number(rows[0]?.number ?? 0);
  });
}

/** Inserts encoded rows into a table. Resolves when all of them are durable and readable. */
export async function insertRows(
  place: Place,
  table: string,
  columns: readonly [string, ...string[]],
  rows: readonly Uint8Array[],
): Promise<void> {
  const blocks = rows.filter((block) => block.length > 0);
  if (blocks.length === 0) return;
  const durable = await durably(place);
  await reach(() =>
    place.client.insert({
      table: place.at.named(table),
      columns: [...columns],
      values: Readable.from(blocks, { objectMode: false }),
      format: 'TabSeparated',
      clickhouse_settings: {
        ...durable,
        // It takes no longer on one thread, and reads go on beside it.
        ...{ input_format_parallel_parsing: 0, max_threads: 1 },
      },
    }),
  );
}
