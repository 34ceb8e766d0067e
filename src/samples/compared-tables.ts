import type { ClickHouseClient } from '@clickhouse/client';
import { reach } from './client.ts';
import type { ComparedTable } from './proof.ts';

/** What the comparisons of the tables in use with the fresh ones have in common. */

const settings =
  'SETTINGS max_threads = 1, max_execution_time = 140, max_memory_usage = 2000000000';

/** Asks for rows, as objects by the names of their columns. */
export type Ask = <T>(query: string, params?: Record<string, unknown>) => Promise<T[]>;

export function askOn(client: ClickHouseClient): Ask {
  return <T>(query: string, params: Record<string, unknown> = {}) =>
    reach(async () => {
      const answer = await client.query({
        query: `${query} ${settings}`,
        query_params: params,
        format: 'JSONEachRow',
      });
      return await answer.json<T>();
    });
}

export const identity = 'newest_first, metric, labels_json, sandbox';
export const content = 'value, artifact_id, sequence, generation, record';
export const month = 'toYear(period_start) * 100 + toMonth(period_start)';

/** Of a table with the past, the rows of the generations that stand; a build made no others. */
const standing = `if((source_id, sequence) IN (
    SELECT source_id, sequence FROM delivery_generations_fresh),
  (source_id, sequence, generation) IN (
    SELECT source_id, sequence, generation FROM delivery_generations_fresh),
  generation = 0)`;

/** `also`: which of its rows are compared; `key`: what tells them apart within a source. */
export const compared: Record<ComparedTable, { name: string; also: string; key: string }> = {
  samples: { name: 'samples', also: '1', key: identity },
  versions: {
    name: 'sample_versions',
    also: standing,
    key: `${identity}, sequence, generation, record`,
  },
};

/** A sum of hashes does not depend on the order of rows, nor its memory on their number. */
export const digestOf = (columns: string) => `sum(reinterpretAsUInt128(sipHash128(${columns})))`;

/** For groups with their number `n` of rows and their `digest` on either side. */
export const differ = `(sumIf(n, is_stored = 1), sumIf(digest, is_stored = 1))
  != (sumIf(n, is_stored = 0), sumIf(digest, is_stored = 0))`;

/** Both sets as one, told apart by `is_stored`. */
export const bothSets = (select: (ending: string, isStored: 0 | 1) => string) =>
  `${select('', 1)} UNION ALL ${select('_fresh', 0)}`;
