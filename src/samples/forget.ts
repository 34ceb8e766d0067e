import type { Layout } from './layout.ts';
import type { Forgetting } from './samples.ts';

const identity = 'newest_first, metric, labels_json, sandbox';
const ofSource = 'source_id = {source:UUID}';

/**
 * The statements, in order, that take the text of withdrawn deliveries out of the tables: of each
 * delivery of the source that has this generation or a later one, the rows of earlier ones.
 *
 * Nothing that is readable changes. Those rows are hidden in `samples`, so they can go first.
 * Then the rows that hide them, for their labels are part of the text too: but only where nothing
 * at all is readable, and after whatever else they hide.
 */
export function forgetStatements(at: Layout, { sourceId, generation }: Forgetting) {
  const [samples, generations] = [at.held('samples'), at.held('delivery_generations')];
  const outdated = `${ofSource} AND generation < {generation:UInt32} AND sequence IN (
    SELECT sequence FROM ${generations}
    WHERE ${ofSource} AND generation >= {generation:UInt32})`;
  const gone = `${ofSource} AND (${identity}) IN (
    SELECT ${identity} FROM ${samples} WHERE ${ofSource}
    GROUP BY ${identity} HAVING argMax(is_deleted, version) = 1)`;
  const deleted = (table: string, where: string) =>
    `ALTER TABLE ${at.held(table)}${at.everywhere} DELETE WHERE ${where} ${at.whenGone}`;
  const statements = [
    deleted('sample_versions', outdated),
    deleted('samples', `is_deleted = 0 AND ${outdated}`),
    deleted('samples', `is_deleted = 0 AND ${gone}`),
    deleted('samples', `is_deleted = 1 AND ${gone}`),
  ];
  return statements.map((query) => ({ query, query_params: { source: sourceId, generation } }));
}
