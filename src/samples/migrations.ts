/** One step of the schema. Every statement of it can be repeated and raced (see `schema.ts`). */
export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

/**
 * The tables of samples (DESIGN, "ClickHouse").
 *
 * `sample_inbox` stores nothing: it hands each inserted block to the views on it, and those fill
 * `sample_versions`, every row ever parsed, and `samples`, the rows that window reads look at.
 * - One insert, sent and parsed once, fills both: 1.0 s for 280,000 rows against 1.7 s for two
 *   inserts (and 1.0 s for a view from `sample_versions` to `samples`).
 * - What an insert fills is said in the database and not in each program: a rebuild makes fresh
 *   tables, adds a view for each, and every process's inserts go to both sets from that moment.
 *   Views name their targets, so after EXCHANGE TABLES they fill whatever bears the name then.
 * - `version_inbox` fills `sample_versions` alone: the rows of a re-parse come into `samples` when
 *   its generation is complete. `rejection_inbox` fills `rejections`.
 * The views are filled one after the other, not in one transaction; an insert that failed in
 * between is repeated, and rows that are there already collapse.
 *
 * `delivery_generations` says which generation of a delivery stands, where that is not the first.
 * It is written by the turn that settles it (`settle.ts`), and never goes back.
 *
 * `version` decides supersession (DECISIONS 3): the accepted sequence, then the generation, then
 * the record, in one number. It is a default, so that a row which returns because its successor
 * is gone can be given a later version than its own. Rows equal in key and version are the same
 * row. In `samples` a row with `is_deleted` hides what it supersedes.
 *
 * `newest_first` is the negated day since 1970: FINAL with a LIMIT reads in key order only when
 * the key ascends. The labels are in the key as the text they are compared by. There are no
 * partitions: an insert over more than 100 of them is refused, and one document can span decades.
 * Inserts are not synced to the disk by default; without that, an acknowledged one can be lost
 * with the power.
 */
const inboxColumns = `
    source_id UUID,
    newest_first Int32,
    metric String,
    labels_json String,
    sandbox Bool,
    value String,
    artifact_id UUID,
    sequence UInt64,
    generation UInt32,
    record UInt32,
    is_deleted UInt8 DEFAULT 0`;

const columns = `${inboxColumns},
    version UInt128 DEFAULT bitOr(
      bitShiftLeft(toUInt128(sequence), 64),
      bitOr(bitShiftLeft(toUInt128(generation), 32), toUInt128(record))
    ),
    period_start Date32 ALIAS toDate32(toInt32(-newest_first)),
    CONSTRAINT days_1900_to_2299 CHECK newest_first BETWEEN -120529 AND 25567`;

const durable = 'fsync_after_insert = 1, fsync_part_directory = 1';

const identity = 'source_id, newest_first, metric, labels_json, sandbox';

/**
 * The table of window reads. A read takes the first rows of every part, in whole granules of every
 * column: with the usual 8,192 rows in one, 12 parts not merged yet cost 31 ms and one part 9; with
 * 1,024 it is 13 and 8. A table of before gets them when `weir rebuild` makes it anew.
 */
export const samplesEngine = `ENGINE = ReplacingMergeTree(version, is_deleted)
  ORDER BY (${identity})
  PRIMARY KEY (source_id, newest_first, metric)
  SETTINGS ${durable}, index_granularity = 1024`;

const rejectionColumns = `
    artifact_id UUID,
    generation UInt32,
    record UInt32,
    ordinal UInt32,
    line Nullable(UInt32),
    field Nullable(String),
    code LowCardinality(String),
    message String`;

/** A view that hands the samples of an inbox on to a table. */
export const fillSamples = (view: string, table: string, inbox: string) => `
  CREATE MATERIALIZED VIEW IF NOT EXISTS ${view} TO ${table} AS
  SELECT source_id, newest_first, metric, labels_json, sandbox, value, artifact_id, sequence,
    generation, record, is_deleted
  FROM ${inbox}`;

/** A view that hands the rejections of an inbox on to a table. */
export const fillRejections = (view: string, table: string) => `
  CREATE MATERIALIZED VIEW IF NOT EXISTS ${view} TO ${table} AS
  SELECT artifact_id, generation, record, ordinal, line, field, code, message
  FROM rejection_inbox`;

export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      `CREATE TABLE IF NOT EXISTS sample_versions (${columns})
       ENGINE = ReplacingMergeTree
       ORDER BY (${identity}, version)
       PRIMARY KEY (source_id, newest_first, metric)
       SETTINGS ${durable}`,
      `CREATE TABLE IF NOT EXISTS samples (${columns}) ${samplesEngine}`,
      `CREATE TABLE IF NOT EXISTS sample_inbox (${inboxColumns}) ENGINE = Null`,
      fillSamples('fill_sample_versions', 'sample_versions', 'sample_inbox'),
      fillSamples('fill_samples', 'samples', 'sample_inbox'),
      `CREATE TABLE IF NOT EXISTS rejections (${rejectionColumns})
       ENGINE = ReplacingMergeTree
       ORDER BY (artifact_id, generation, record, ordinal)
       SETTINGS ${durable}`,
    ],
  },
  {
    version: 2,
    statements: [
      `CREATE TABLE IF NOT EXISTS delivery_generations (
         source_id UUID,
         sequence UInt64,
         generation UInt32
       )
       ENGINE = ReplacingMergeTree(generation)
       ORDER BY (source_id, sequence)
       SETTINGS ${durable}`,
    ],
  },
  {
    version: 3,
    statements: [
      `CREATE TABLE IF NOT EXISTS version_inbox (${inboxColumns}) ENGINE = Null`,
      fillSamples('fill_reparsed_versions', 'sample_versions', 'version_inbox'),
      `CREATE TABLE IF NOT EXISTS rejection_inbox (${rejectionColumns}) ENGINE = Null`,
      fillRejections('fill_rejections', 'rejections'),
    ],
  },
];
