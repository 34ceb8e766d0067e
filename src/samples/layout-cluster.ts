import type { Layout, TableEngine } from './layout.ts';

/**
 * The tables on a cluster of shards, each of one or more replicas.
 *
 * Sharding. Rows lie by source, rejections by artifact: whatever one statement looks at for one
 * source (its window, its past, what a turn settles, what it forgets) is on one shard, and is
 * answered there as one server would. Statements without a source are those of the proof.
 *
 * Inserts go to the inbox of the shard, on one of its replicas, where the views hand them on; the
 * answer is waited for (`distributed_foreground_insert`). Sending them there ourselves would save
 * a hop, and want every node's address and the rule of the shards in each program.
 *
 * Copies. What was reported parsed must show in every later read, whichever replica answers. So an
 * insert counts when all replicas of its shard have it (`copies`), and reads ask any. With a
 * majority only, reads had to be sequential: that allows one insert at a time in each table
 * (`insert_quorum_parallel = 0`), of all processes, and makes Keeper part of every read. The price:
 * while a replica is away, its shard takes no rows. Deliveries are received all the same and wait
 * to be parsed; reads go on. A replica that was away has missed no row, so it may answer at once;
 * one that is filled anew may not, and a server tells it by its delay: without Keeper, all seem to
 * be late after five minutes, and reads are refused.
 *
 * Blocks are not compared with earlier ones (`insert_deduplicate = 0`): equal rows collapse by
 * their version, and a block that comes again after its rows were deleted is to come in.
 *
 * Deleting. Each replica may find the rows by itself (`allow_nondeterministic_mutations`): where
 * two find others, the later one takes the part of the earlier.
 */
export function clusterLayout(database: string, cluster: string): Layout {
  const nameOf = (table: string) => `\`${database}\`.\`${table}\``;
  const heldOf = (table: string) => nameOf(`${table}${ending}`);
  const root = `/clickhouse/weir/${database}`;
  const replicas = `clusterAllReplicas('${cluster}', system.replicas)
      WHERE database = '${database}' AND endsWith(table, '${ending}')`;
  const everywhere = ` ON CLUSTER \`${cluster}\``;
  return {
    named: nameOf,
    held: heldOf,
    everywhere,
    engine: (table, engine, set) => replicated(engine, `${root}/{shard}/${table}/${set}`, replica),
    engineOfAll: (table, engine) =>
      replicated(engine, `${root}/all/${table}`, `{shard}-${replica}`),
    spread: (table, by) => [
      `CREATE TABLE IF NOT EXISTS ${nameOf(table)}${everywhere} AS ${heldOf(table)}
       ENGINE = Distributed('${cluster}', '${database}', '${table}${ending}', cityHash64(${by}))`,
    ],
    all: (table) => [nameOf(table), heldOf(table)],
    whenGone: `SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1,
      distributed_ddl_task_timeout = ${ddlSeconds}`,
    settings,
    writing: { insert_deduplicate: 0, insert_quorum_parallel: 1, insert_quorum_timeout: quorumMs },
    copies: `SELECT max(replicas) AS number FROM (
      SELECT count() AS replicas FROM system.clusters WHERE cluster = '${cluster}'
      GROUP BY shard_num)`,
    // A node that is away is not asked; it is asked by whoever starts when it is back.
    isDatabaseThere: `
      SELECT (SELECT count() FROM clusterAllReplicas('${cluster}', system.databases)
          WHERE name = {database:String})
        >= (SELECT count() FROM clusterAllReplicas('${cluster}', system.one)) AS number
      SETTINGS skip_unavailable_shards = 1`,
    lacking: (tables) => `
      SELECT toInt64((SELECT count() FROM clusterAllReplicas('${cluster}', system.one)))
        * ${tables.length} - toInt64((
          SELECT count() FROM clusterAllReplicas('${cluster}', system.tables)
          WHERE database = '${database}' AND name IN (${tables.map((t) => `'${t}'`).join(', ')})
        )) AS number
      SETTINGS skip_unavailable_shards = 1`,
    sets: `
      SELECT DISTINCT replaceRegexpOne(table, '${ending}$', '') AS name, ${setOf} AS set
      FROM ${replicas} SETTINGS skip_unavailable_shards = 1`,
    // Of all nodes: one that is away is an error.
    disagreeing: `
      SELECT count() AS number
      FROM (SELECT table FROM ${replicas} GROUP BY table HAVING uniqExact(${setOf}) > 1)`,
  };
}

const ending = '_local';
/** The last part of a table's path in Keeper. */
const setOf = "splitByChar('/', zookeeper_path)[-1]";
const replica = '{replica}';

/** Shorter than our own wait for an answer (`client.ts`), so that the server speaks first. */
const ddlSeconds = 120;
const quorumMs = 30_000;

const settings = {
  // Rows of one source are on one shard, so a question within a question is asked there as well.
  distributed_product_mode: 'local',
  optimize_skip_unused_shards: 1,
  // A part of the answer is none, and neither is one of a replica that is still being filled.
  skip_unavailable_shards: 0,
  fallback_to_stale_replicas_for_distributed_queries: 0,
  distributed_foreground_insert: 1,
  // What a turn settles is put together in one place, so that it changes in one block.
  parallel_distributed_insert_select: 0,
  distributed_ddl_task_timeout: ddlSeconds,
};

/** Paths are told, not made of table names: tables exchange names, and a new node finds them. */
function replicated({ family, given }: TableEngine, path: string, name: string): string {
  const told = [`'${path}'`, `'${name}'`, ...(given ? [given] : [])];
  return `Replicated${family}MergeTree(${told.join(', ')})`;
}
