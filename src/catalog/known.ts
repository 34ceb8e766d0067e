import { sql } from 'kysely';
import type { KnownDelivery, Probe, StoredReceipt } from './catalog.ts';
import type { DbBool, DbUuid } from './dialect.ts';
import { once } from './once.ts';
import type { Db } from './schema.ts';

/** A delivery that a key or a body hash led to. */
export interface KnownRow {
  readonly sequence: number;
  readonly source_id: number;
  readonly artifact_id: DbUuid;
  readonly receipt_shape_version: number;
  readonly sandbox: DbBool;
  readonly sha256: Buffer;
}

export type KnownQueries = ReturnType<typeof knownQueries>;

/**
 * The two questions of idempotency (DECISIONS 5), asked by the lookup before bytes are kept and
 * again by the ledger in its transaction.
 */
export function knownQueries({ db, dialect }: Db) {
  /** Where a source's bytes are unique; what is asked for here both tables have. */
  const bodies = (dialect.partitions ? 'delivery_bodies' : 'deliveries') as 'delivery_bodies';
  const columns = [
    'd.sequence',
    'd.source_id',
    'd.artifact_id',
    'd.receipt_shape_version',
    'd.sandbox',
    'd.sha256',
  ] as const;
  return {
    /** A row where one of the two finds something. */
    any: once<{ source: DbUuid; sandbox: DbBool; key: string; sha256: Buffer }>()((p) =>
      db
        .selectFrom('sources as s')
        .select('s.id')
        .where('s.uuid', '=', p.source)
        .where((eb) =>
          eb.or([
            eb.exists(
              eb
                .selectFrom('delivery_keys as k')
                .select('k.sequence')
                .whereRef('k.source_id', '=', 's.id')
                .where('k.sandbox', '=', p.sandbox)
                .where('k.key', '=', p.key),
            ),
            eb.exists(
              eb
                .selectFrom(`${bodies} as b`)
                .select('b.sequence')
                .whereRef('b.source_id', '=', 's.id')
                .where('b.sandbox', '=', p.sandbox)
                .where(sql.ref('b.sha256'), '=', p.sha256),
            ),
          ]),
        ),
    ),
    byKey: once<{ source: DbUuid; sandbox: DbBool; key: string }>()((p) =>
      db
        .selectFrom('sources as s')
        .innerJoin('delivery_keys as k', 'k.source_id', 's.id')
        .innerJoin('deliveries as d', 'd.sequence', 'k.sequence')
        .select(columns)
        .where('s.uuid', '=', p.source)
        .where('k.sandbox', '=', p.sandbox)
        .where('k.key', '=', p.key),
    ),
    byBody: once<{ source: DbUuid; sandbox: DbBool; sha256: Buffer }>()((p) =>
      db
        .selectFrom('sources as s')
        .innerJoin(`${bodies} as b`, 'b.source_id', 's.id')
        .innerJoin('deliveries as d', 'd.sequence', 'b.sequence')
        .select(columns)
        .where('s.uuid', '=', p.source)
        .where('b.sandbox', '=', p.sandbox)
        .where(sql.ref('b.sha256'), '=', p.sha256),
    ),
  };
}

export function receiptOf({ dialect }: Pick<Db, 'dialect'>, row: KnownRow): StoredReceipt {
  return {
    artifactId: dialect.uuid.fromDb(row.artifact_id),
    shapeVersion: row.receipt_shape_version,
    sandbox: dialect.bool.fromDb(row.sandbox),
  };
}

/** A known key answers whatever the body is; only its difference is told. */
export function knownByKey(
  db: Pick<Db, 'dialect'>,
  row: KnownRow,
  probe: Pick<Probe, 'sha256'>,
): KnownDelivery {
  const bodyDiffers = Buffer.compare(row.sha256, probe.sha256) !== 0;
  return { by: 'key', receipt: receiptOf(db, row), bodyDiffers };
}

export function knownByBody(db: Pick<Db, 'dialect'>, row: KnownRow): KnownDelivery {
  return { by: 'body', receipt: receiptOf(db, row), bodyDiffers: false };
}
