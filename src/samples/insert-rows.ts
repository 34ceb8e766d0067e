import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { reach } from './client.ts';

/** Inserts encoded rows into a table. Resolves when all of them are durable and readable. */
export async function insertRows(
  client: ClickHouseClient,
  table: string,
  columns: readonly [string, ...string[]],
  rows: readonly Uint8Array[],
): Promise<void> {
  const blocks = rows.filter((block) => block.length > 0);
  if (blocks.length === 0) return;
  await reach(() =>
    client.insert({
      table,
      columns: [...columns],
      values: Readable.from(blocks, { objectMode: false }),
      format: 'TabSeparated',
      clickhouse_settings: {
        // A server may be set up to answer before the rows are in; they must be durable then.
        ...{ async_insert: 0, wait_end_of_query: 1 },
        // It takes no longer on one thread, and reads go on beside it.
        ...{ input_format_parallel_parsing: 0, max_threads: 1 },
      },
    }),
  );
}
