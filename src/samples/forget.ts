import type { Forgetting } from './samples.ts';

const identity = 'newest_first, metric, labels_json, sandbox';
/** The statement answers when the rows are gone from every part. */
const done = 'SETTINGS mutations_sync = 1';
const ofSource = 'source_id = {source:UUID}';

/**
 * The statements, in order, that take the text of withdrawn deliveries out of the tables: of each
 * delivery of the source that has this generation or a later one, the rows of earlier ones.
 *
 * Nothing that is readable changes. Those rows are hidden in `samples`, so they can go first.
 * Then the rows that hide them, for their labels are part of the text too: but only where nothing
 * at all is readable, and after whatever else they hide.
 */
export function forgetStatements({ sourceId, generation }: Forgetting) {
  const outdated = `${ofSource} AND generation < {generation:UInt32} AND sequence IN (
    SELECT sequence FROM delivery_generations
    WHERE ${ofSource} AND generation >= {generation:UInt32})`;
  const gone = `${ofSource} AND (${identity}) IN (
    SELECT ${identity} FROM samples WHERE ${ofSource}
    GROUP BY ${identity} HAVING argMax(is_deleted, version) = 1)`;
  const statements = [
    `ALTER TABLE sample_versions DELETE WHERE ${outdated} ${done}`,
    `ALTER TABLE samples DELETE WHERE is_deleted = 0 AND ${outdated} ${done}`,
    `ALTER TABLE samples DELETE WHERE is_deleted = 0 AND ${gone} ${done}`,
    `ALTER TABLE samples DELETE WHERE is_deleted = 1 AND ${gone} ${done}`,
  ];
  return statements.map((query) => ({ query, query_params: { source: sourceId, generation } }));
}
