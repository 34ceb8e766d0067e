import type { ClickHouseClient } from '@clickhouse/client';
import {
  type Ask,
  askOn,
  bothSets,
  compared,
  content,
  differ,
  digestOf,
  identity,
  month,
} from './compared-tables.ts';
import { differingRejections } from './differing-rejections.ts';
import { differingSamples } from './differing-samples.ts';
import type {
  ComparedTable,
  DifferingGeneration,
  DifferingMonth,
  SampleDifferences,
  Stretch,
} from './proof.ts';
import { stretchesOf } from './stretches.ts';

/**
 * Compares the tables in use with the fresh ones, in SQL. First by digests, whose memory is that
 * of sources and months; then row by row where those differ, in shares of the rows of a month.
 */
export function sampleDifferences(client: ClickHouseClient): SampleDifferences {
  const ask = askOn(client);
  return {
    stretches: () => stretchesOf(ask),
    months: (table, stretch) => differingMonths(ask, table, stretch),
    samples: (differing, limit) => differingSamples(ask, differing, limit),
    rejections: (limit) => differingRejections(ask, limit),
    generations: (limit) => differingGenerations(ask, limit),
  };
}

async function differingMonths(
  ask: Ask,
  table: ComparedTable,
  { firstSource, lastSource, fromDay, toDay }: Stretch,
): Promise<DifferingMonth[]> {
  const { name, also } = compared[table];
  const side = (ending: string, isStored: 0 | 1) => `
    SELECT ${isStored} AS is_stored, source_id, ${month} AS month, count() AS n,
      ${digestOf(`${identity}, ${content}`)} AS digest
    FROM ${name}${ending} FINAL
    WHERE source_id >= {first:UUID} AND source_id <= {last:UUID}
      AND newest_first >= {newest:Int32} AND newest_first <= {oldest:Int32} AND ${also}
    GROUP BY source_id, month`;
  const found = await ask<{ source: string; month: number; most: string }>(
    `SELECT toString(source_id) AS source, month,
       greatest(sumIf(n, is_stored = 1), sumIf(n, is_stored = 0)) AS most
     FROM (${bothSets(side)})
     GROUP BY source_id, month HAVING ${differ} ORDER BY source_id, month`,
    { first: firstSource, last: lastSource, newest: -toDay, oldest: -fromDay },
  );
  return found.map(({ source, month: which, most }) => ({
    ...{ table, sourceId: source, month: which },
    rows: Number(most),
  }));
}

async function differingGenerations(ask: Ask, limit: number): Promise<DifferingGeneration[]> {
  const side = (ending: string, isStored: 0 | 1) => `
    SELECT ${isStored} AS is_stored, source_id, sequence, max(generation) AS g
    FROM delivery_generations${ending} GROUP BY source_id, sequence`;
  const found = await ask<Record<'source' | 'sequence' | 'stored' | 'made', string>>(
    `SELECT toString(source_id) AS source, sequence, sumIf(g, is_stored = 1) AS stored,
       sumIf(g, is_stored = 0) AS made
     FROM (${bothSets(side)})
     GROUP BY source_id, sequence HAVING stored != made
     ORDER BY source_id, sequence LIMIT {limit:UInt32}`,
    { limit },
  );
  return found.map(({ source, sequence, stored, made }) => ({
    ...{ sourceId: source, sequence: Number(sequence) },
    ...{ stored: Number(stored), made: Number(made) },
  }));
}
