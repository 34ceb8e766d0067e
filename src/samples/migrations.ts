import type { Layout, SpreadBy, TableEngine } from './layout.ts';

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

export type DerivedTable = 'samples' | 'sample_versions' | 'rejections' | 'delivery_generations';

interface Derived {
  readonly engine: TableEngine;
  readonly rest: string;
  readonly by: SpreadBy;
}

/**
 * The tables that hold rows.
 *
 * `samples` is the table of window reads. A read takes the first rows of every part, in whole
 * granules of every column: with the usual 8,192 rows in one, 12 parts not merged yet cost 31 ms
 * and one part 9; with 1,024 it is 13 and 8. A table of before gets them when `weir rebuild` makes
 * it anew.
 */
const derived: Readonly<Record<DerivedTable, Derived>> = {
  samples: {
    engine: { family: 'Replacing', given: 'version, is_deleted' },
    rest: `ORDER BY (${identity})
  PRIMARY KEY (source_id, newest_first, metric)
  SETTINGS ${durable}, index_granularity = 1024`,
    by: 'source_id',
  },
  sample_versions: {
    engine: { family: 'Replacing' },
    rest: `ORDER BY (${identity}, version)
  PRIMARY KEY (source_id, newest_first, metric)
  SETTINGS ${durable}`,
    by: 'source_id',
  },
  rejections: {
    engine: { family: 'Replacing' },
    rest: `ORDER BY (artifact_id, generation, record, ordinal)
  SETTINGS ${durable}`,
    by: 'artifact_id',
  },
  delivery_generations: {
    engine: { family: 'Replacing', given: 'generation' },
    rest: `ORDER BY (source_id, sequence)
  SETTINGS ${durable}`,
    by: 'source_id',
  },
};

export const derivedTables = Object.keys(derived) as DerivedTable[];

/** The end of the statement that makes a table which holds rows. */
export const engineOf = (at: Layout, table: DerivedTable, set: string) =>
  `ENGINE = ${at.engine(table, derived[table].engine, set)}
  ${derived[table].rest}`;

export const spreadOf = (at: Layout, table: DerivedTable, name: string = table) =>
  at.spread(name, derived[table].by);

/** Statements that make a table which holds rows. */
function holding(at: Layout, table: DerivedTable, shape: string, set: string): readonly string[] {
  const { held, everywhere } = at;
  return [
    `CREATE TABLE IF NOT EXISTS ${held(table)}${everywhere} (${shape}) ${engineOf(at, table, set)}`,
    ...spreadOf(at, table),
  ];
}

/** Statements that make a table which stores nothing, for views on it. */
function inbox(at: Layout, table: string, shape: string, by: SpreadBy): readonly string[] {
  const { held, everywhere } = at;
  return [
    `CREATE TABLE IF NOT EXISTS ${held(table)}${everywhere} (${shape}) ENGINE = Null`,
    ...at.spread(table, by),
  ];
}

const rejectionColumns = `
    artifact_id UUID,
    generation UInt32,
    record UInt32,
    ordinal UInt32,
    line Nullable(UInt32),
    field Nullable(String),
    code LowCardinality(String),
    message String`;

/** A view, where the rows are held, that hands the samples of an inbox on to a table. */
export const fillSamples = (
  { named, held, everywhere }: Layout,
  [view, table, from]: readonly [view: string, table: string, inbox: string],
) => `
  CREATE MATERIALIZED VIEW IF NOT EXISTS ${named(view)}${everywhere} TO ${held(table)} AS
  SELECT source_id, newest_first, metric, labels_json, sandbox, value, artifact_id, sequence,
    generation, record, is_deleted
  FROM ${held(from)}`;

/** A view that hands the rejections of an inbox on to a table. */
export const fillRejections = (
  { named, held, everywhere }: Layout,
  [view, table]: readonly [view: string, table: string],
) => `
  CREATE MATERIALIZED VIEW IF NOT EXISTS ${named(view)}${everywhere} TO ${held(table)} AS
  SELECT artifact_id, generation, record, ordinal, line, field, code, message
  FROM ${held('rejection_inbox')}`;

/** The set of the tables that the migrations make; a rebuild makes others (`fresh.ts`). */
export const firstSet = 'first';

/** @param setOf which set a table is of, where a rebuild made it after the migrations */
export function migrationsOf(
  at: Layout,
  setOf: (table: DerivedTable) => string = () => firstSet,
): readonly Migration[] {
  const shapes: Record<DerivedTable, string> = {
    ...{ samples: columns, sample_versions: columns, rejections: rejectionColumns },
    delivery_generations: `
         source_id UUID,
         sequence UInt64,
         generation UInt32
       `,
  };
  const table = (name: DerivedTable) => holding(at, name, shapes[name], setOf(name));
  const samples = (...view: readonly [string, string, string]) => fillSamples(at, view);
  return [
    {
      version: 1,
      statements: [
        ...table('sample_versions'),
        ...table('samples'),
        ...inbox(at, 'sample_inbox', inboxColumns, 'source_id'),
        samples('fill_sample_versions', 'sample_versions', 'sample_inbox'),
        samples('fill_samples', 'samples', 'sample_inbox'),
        ...table('rejections'),
      ],
    },
    { version: 2, statements: table('delivery_generations') },
    {
      version: 3,
      statements: [
        ...inbox(at, 'version_inbox', inboxColumns, 'source_id'),
        samples('fill_reparsed_versions', 'sample_versions', 'version_inbox'),
        ...inbox(at, 'rejection_inbox', rejectionColumns, 'artifact_id'),
        fillRejections(at, ['fill_rejections', 'rejections']),
      ],
    },
  ];
}
