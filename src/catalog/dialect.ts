import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/**
 * What differs between the databases, stated once. Directory, queue, deliveries and migrations
 * are written over this and never ask which database they are on.
 */
export interface CatalogDialect {
  readonly uuid: Codec<string, DbUuid>;
  readonly bool: Codec<boolean, DbBool>;
  /** Column types of the migrations. */
  readonly types: ColumnTypes;
  /** Null: the table of deliveries is one. */
  readonly partitions: Partitions | null;
  /** Ends `create table`. `keyed`: rows are stored in the order of their primary key. */
  readonly tableEnd: { readonly plain: RawBuilder<unknown>; readonly keyed: RawBuilder<unknown> };
  /**
   * Locks the rows that a select in a write transaction finds, until it ends. `skip` passes over
   * those that another process holds. Nothing where a write transaction is alone by itself.
   */
  lockRows<Q>(select: Q, others: 'wait' | 'skip'): Q;
  /** Waits until no other process migrates; held until the transaction ends. */
  lockMigrations(trx: Transaction<Schema>): Promise<void>;
}

/**
 * Deliveries in parts by ranges of their sequence, which are ranges of time. What is unique over
 * all of them cannot be a constraint of such a table: it stands in `delivery_bodies`.
 */
export interface Partitions {
  /** Ends `create table deliveries`. */
  readonly tableEnd: RawBuilder<unknown>;
  /** Makes the part that holds a sequence, unless it is there. */
  ensure(db: Kysely<Schema>, sequence: number): Promise<void>;
}

export interface Codec<Value, Stored> {
  toDb(value: Value): Stored;
  fromDb(stored: Stored): Value;
}

export interface ColumnTypes {
  /** A surrogate id that the database counts up; the primary key. */
  readonly id: RawBuilder<unknown>;
  /** The primary key of deliveries; who inserts says it. */
  readonly sequence: RawBuilder<unknown>;
  readonly uuid: RawBuilder<unknown>;
  readonly hash: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  readonly bool: RawBuilder<unknown>;
  /** Holds any exact JavaScript integer. */
  readonly int: RawBuilder<unknown>;
  /** Compared byte by byte; equal only when the code points are. */
  readonly text: RawBuilder<unknown>;
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Any version and variant: ids in requests are anybody's. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

declare const stored: unique symbol;
/** A uuid as the database keeps it; only the dialect's codec makes and reads one. */
export interface DbUuid {
  readonly [stored]: 'uuid';
}
/** A truth value as the database keeps it. */
export interface DbBool {
  readonly [stored]: 'bool';
}
