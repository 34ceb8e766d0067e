import type { Database } from 'better-sqlite3';
import { sql } from 'kysely';
import type { ContentEncoding, DeliveryWay } from '../../domain/nouns.ts';
import type { DbBool, DbUuid } from '../dialect.ts';
import { knownQueries } from '../known.ts';
import { type Once, once } from '../once.ts';
import type { Db } from '../schema.ts';

export type Statements = ReturnType<typeof statements>;

interface NewDelivery {
  readonly next: number;
  readonly source: number;
  readonly sandbox: DbBool;
  readonly sha256: Buffer;
  readonly artifact: DbUuid;
  readonly version: number;
  readonly bytes: number;
  readonly delivery: DeliveryWay;
  readonly mediaType: string;
  readonly encoding: ContentEncoding;
  readonly receivedAt: number;
  readonly object: string;
  readonly offset: number;
  readonly length: number;
  readonly secret: DbUuid | null;
}

interface Name {
  readonly source: number;
  readonly sandbox: DbBool;
  readonly key: string;
  readonly sequence: number;
  readonly now: number;
}

interface Conflict {
  readonly sequence: number;
  readonly key: string;
  readonly sha256: Buffer;
  readonly now: number;
}

/** The ledger's hot statements: built with kysely once, prepared once, run without a promise. */
export function statements(connection: Database, at: Db) {
  const { db } = at;
  const one = <P, R>(query: Once<P, R>) => {
    const statement = connection.prepare<unknown[], R>(query.sql);
    return (params: P) => statement.get(query.values(params));
  };
  /** Runs a write. @returns whether it wrote a row */
  const write = <P>(query: Once<P, unknown>) => {
    const statement = connection.prepare<unknown[]>(query.sql);
    return (params: P) => statement.run(query.values(params)).changes > 0;
  };
  const number = (text: string) => {
    const statement = connection.prepare<[], number>(text).pluck();
    return () => statement.get()!;
  };
  const plain = (text: string) => {
    const statement = connection.prepare(text);
    return () => void statement.run();
  };
  const known = knownQueries(at);
  const of = (sequence: number, name: 'source_id' | 'received_at') =>
    db.selectFrom('deliveries').select(name).where('sequence', '=', sequence);
  return {
    begin: plain('begin immediate'),
    commit: plain('commit'),
    rollback: plain('rollback'),
    savepoint: plain('savepoint entry'),
    undo: plain('rollback to entry'),
    release: plain('release entry'),
    byKey: one(known.byKey),
    byBody: one(known.byBody),
    source: one(
      once<{ source: DbUuid }>()((p) =>
        db.selectFrom('sources').select('id').where('uuid', '=', p.source),
      ),
    ),
    shape: one(
      once<{ source: DbUuid; version: number }>()((p) =>
        db
          .selectFrom('sources as s')
          .innerJoin('shape_versions as v', 'v.source_id', 's.id')
          .select('v.source_id')
          .where('s.uuid', '=', p.source)
          .where('v.version', '=', p.version),
      ),
    ),
    next: number(nextSequence),
    insert: write(insertQuery(at)),
    takeBack: write(
      once<{ sequence: number }>()((p) =>
        db.deleteFrom('deliveries').where('sequence', '=', p.sequence),
      ),
    ),
    nameFirst: write(nameQuery(at, 'first')),
    nameFurther: write(nameQuery(at, 'further')),
    conflict: write(
      once<Conflict>()((p) =>
        db.insertInto('delivery_conflicts').values({
          ...{ sequence: p.sequence, key: p.key, sha256: p.sha256, at: p.now },
          source_id: of(p.sequence, 'source_id'),
          received_at: of(p.sequence, 'received_at'),
        }),
      ),
    ),
  };
}

const nextSequence = `select max(
  coalesce((select max(sequence) from deliveries), 0),
  (select sequence_above from catalog_state)) + 1`;

/**
 * A new delivery waits for parsing at once, under the version that its receipt names. Nothing is
 * written where its bytes are known.
 */
function insertQuery({ db }: Db) {
  return once<NewDelivery>()((p) =>
    db
      .insertInto('deliveries')
      .values({
        sequence: p.next,
        artifact_id: p.artifact,
        source_id: p.source,
        sandbox: p.sandbox,
        receipt_shape_version: p.version,
        shape_version: p.version,
        generation: 0,
        sha256: p.sha256,
        bytes: p.bytes,
        delivery: p.delivery,
        media_type: p.mediaType,
        encoding: p.encoding,
        received_at: p.receivedAt,
        object: p.object,
        object_offset: p.offset,
        object_length: p.length,
        secret_id: p.secret,
        status: 'queued',
        due_at: 0,
        failures: 0,
        crashes: 0,
      })
      .onConflict((on) => on.columns(['source_id', 'sandbox', 'sha256']).doNothing()),
  );
}

/**
 * A delivery's first name has the ordinal 0, each further one the next. Nothing is written where a
 * first name is taken.
 */
function nameQuery({ db }: Db, which: 'first' | 'further') {
  const next = (sequence: number) =>
    sql<number>`(select max(ordinal) + 1 from delivery_keys where sequence = ${sequence})`;
  return once<Name>()((p) => {
    const insert = db.insertInto('delivery_keys').values({
      source_id: p.source,
      sandbox: p.sandbox,
      key: p.key,
      sequence: p.sequence,
      ordinal: which === 'first' ? 0 : next(p.sequence),
      named_at: p.now,
    });
    if (which === 'further') return insert;
    return insert.onConflict((on) => on.columns(['source_id', 'sandbox', 'key']).doNothing());
  });
}
