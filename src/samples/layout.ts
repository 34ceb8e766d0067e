import type { ClickHouseAddress } from './address.ts';
import { clusterLayout } from './layout-cluster.ts';

/**
 * How the tables lie on the servers, told in what statements have to say of it. Statements are
 * made by functions of a layout and never ask which one they have.
 *
 * On one server a table is read, written and held under one name. On a cluster each node holds the
 * rows of its shard in `…_local`, and the name itself is a table that holds nothing: it sends rows
 * to the shard that they belong to, and questions to those that can answer them.
 */
export interface Layout {
  /** The table as it is read and inserted into. */
  named(table: string): string;
  /** The table that holds the rows: what is made, exchanged and dropped, and deleted from. */
  held(table: string): string;
  /** Follows the name in whatever makes, changes or drops something. */
  readonly everywhere: string;
  /** @param set tells tables of one name and several makings apart (`fresh.ts`) */
  engine(table: string, engine: TableEngine, set: string): string;
  /** Of a small table that every node has whole. */
  engineOfAll(table: string, engine: TableEngine): string;
  /**
   * What is made beside a table that holds rows, so that it is read and written by its name.
   *
   * @param by rows that share it are together on one shard
   */
  spread(table: string, by: SpreadBy): readonly string[];
  /** Everything that has the table's name or holds its rows, in the order to drop it. */
  all(table: string): readonly string[];
  /** Ends a statement that deletes rows: it answers when they are gone from every part. */
  readonly whenGone: string;
  /** Of every statement. */
  readonly settings: Settings;
  /** Of every statement that writes rows, beside those of `copies`. */
  readonly writing: Settings;
  /** Asks for the number of servers that an insert must be on, as `number`; null: the one. */
  readonly copies: string | null;
  /** Asks whether `{database:String}` is there, wherever it has to be: `number` is 0 or 1. */
  readonly isDatabaseThere: string;
  /** Asks how many of these tables nodes lack, as `number`; null: none, where one is prepared. */
  lacking(tables: readonly string[]): string | null;
  /** Asks which set each table is of, as `name` and `set`; null: there is no more than one. */
  readonly sets: string | null;
  /** Asks how many tables are of other sets on other nodes, as `number`; null: there are none. */
  readonly disagreeing: string | null;
}

/** One of the MergeTree family: `Replacing`, and its arguments. */
export interface TableEngine {
  readonly family: '' | 'Replacing';
  readonly given?: string;
}

export type SpreadBy = 'source_id' | 'artifact_id';

export type Settings = Readonly<Record<string, string | number>>;

export function layoutOf({ database, cluster }: ClickHouseAddress): Layout {
  return cluster === undefined ? singleLayout : clusterLayout(database, cluster);
}

export const singleLayout: Layout = {
  named: (table) => table,
  held: (table) => table,
  everywhere: '',
  engine: (_table, { family, given }) => `${family}MergeTree${given ? `(${given})` : ''}`,
  engineOfAll: (_table, { family, given }) => `${family}MergeTree${given ? `(${given})` : ''}`,
  spread: () => [],
  all: (table) => [table],
  whenGone: 'SETTINGS mutations_sync = 1',
  settings: {},
  writing: {},
  copies: null,
  isDatabaseThere: `
    SELECT count() AS number FROM system.databases WHERE name = {database:String}`,
  lacking: () => null,
  sets: null,
  disagreeing: null,
};
