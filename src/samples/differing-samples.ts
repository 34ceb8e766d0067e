import { type Ask, bothSets, compared, content, identity, month } from './compared-tables.ts';
import type { DifferingMonth, DifferingSample } from './proof.ts';

/** Rows of one month that are compared one by one at a time: they are held in memory. */
const shareRows = 200_000;
const sharesMax = 10_000;

/** The samples of a month that differ, share by share of its rows. */
export async function differingSamples(
  ask: Ask,
  differing: DifferingMonth,
  limit: number,
): Promise<DifferingSample[]> {
  const found: DifferingSample[] = [];
  const shares = Math.min(sharesMax, Math.max(1, Math.ceil(differing.rows / shareRows)));
  for (let share = 0; share < shares && found.length < limit; share++) {
    const params = { share, shares, limit: limit - found.length };
    found.push(...(await differingShare(ask, differing, params)));
  }
  return found;
}

type Content = readonly [value: string, artifactId: string, record: number];

interface Sides {
  readonly metric: string;
  readonly period: string;
  readonly labels: string;
  readonly sandbox: boolean;
  readonly stored_rows: string;
  readonly stored: Content;
  readonly made_rows: string;
  readonly made: Content;
}

async function differingShare(
  ask: Ask,
  { table, sourceId, month: which }: DifferingMonth,
  params: { readonly share: number; readonly shares: number; readonly limit: number },
): Promise<DifferingSample[]> {
  const { name, also, key } = compared[table];
  const side = (ending: string, isStored: 0 | 1) => `
    SELECT ${isStored} AS is_stored, ${identity}, ${content}
    FROM ${name}${ending} FINAL
    WHERE source_id = {source:UUID} AND ${month} = {month:UInt32} AND ${also}
      AND sipHash64(${identity}) % {shares:UInt32} = {share:UInt32}`;
  const first = (what: string, isStored: 0 | 1) => `anyIf(${what}, is_stored = ${isStored})`;
  const shown = '(value, toString(artifact_id), record)';
  const hash = `sipHash128(${content})`;
  const found = await ask<Sides>(
    `SELECT metric, toString(toDate32(-newest_first)) AS period, labels_json AS labels, sandbox,
       countIf(is_stored = 1) AS stored_rows, ${first(shown, 1)} AS stored,
       countIf(is_stored = 0) AS made_rows, ${first(shown, 0)} AS made
     FROM (${bothSets(side)})
     GROUP BY ${key}
     HAVING stored_rows != made_rows OR ${first(hash, 1)} != ${first(hash, 0)}
     ORDER BY newest_first, metric, labels, sandbox LIMIT {limit:UInt32}`,
    { source: sourceId, month: which, ...params },
  );
  const sideOf = (rows: string, [value, artifactId, record]: Content) =>
    Number(rows) === 0 ? null : { value, artifactId, record };
  return found.map((row) => ({
    ...{ table, sourceId, metric: row.metric, periodStart: row.period },
    ...{ labelsJson: row.labels, sandbox: row.sandbox },
    stored: sideOf(row.stored_rows, row.stored),
    made: sideOf(row.made_rows, row.made),
  }));
}
