import type { KeyHolder, Lookup } from './catalog.ts';
import type { DbUuid } from './dialect.ts';
import { knownByBody, knownByKey, knownQueries } from './known.ts';
import { type Once, once } from './once.ts';
import { companyOf, keyColumns, keyOf, selectShapes, shapeOf, sourceOf } from './rows.ts';
import type { Db } from './schema.ts';

/** Prepares a query for many runs; what it gives returns the first row. */
export type PrepareOne = <P, R>(query: Once<P, R>) => (params: P) => Promise<R | undefined>;

/** Each question is one or two prepared statements on keys of an index. */
export function openLookup(at: Db, prepare: PrepareOne): Lookup {
  const { dialect } = at;
  const holder = prepare(keyHolderQuery(at));
  const shape = prepare(shapeQuery(at));
  const known = knownQueries(at);
  const byKey = prepare(known.byKey);
  const byBody = prepare(known.byBody);
  return {
    async key(hash): Promise<KeyHolder | null> {
      const row = await holder({ hash });
      if (!row) return null;
      return { key: keyOf(at, row), source: sourceOf(at, row), company: companyOf(at, row) };
    },
    async shape(sourceId, version) {
      const row = await shape({ source: dialect.uuid.toDb(sourceId), version });
      return row ? shapeOf(row) : null;
    },
    async keyIsKnown({ sourceId, sandbox, idempotencyKey: key }) {
      const source = dialect.uuid.toDb(sourceId);
      return (await byKey({ source, sandbox: dialect.bool.toDb(sandbox), key })) !== undefined;
    },
    async known(probe) {
      const source = dialect.uuid.toDb(probe.sourceId);
      const sandbox = dialect.bool.toDb(probe.sandbox);
      const named = await byKey({ source, sandbox, key: probe.idempotencyKey });
      if (named) return knownByKey(at, named, probe);
      const same = await byBody({ source, sandbox, sha256: probe.sha256 });
      return same ? knownByBody(at, same) : null;
    },
  };
}

function keyHolderQuery({ db }: Db) {
  return once<{ hash: Buffer }>()((p) =>
    db
      .selectFrom('access_keys as k')
      .innerJoin('sources as s', 's.id', 'k.source_id')
      .innerJoin('companies as c', 'c.id', 's.company_id')
      .innerJoin('shape_versions as v', (on) =>
        on.onRef('v.source_id', '=', 's.id').onRef('v.version', '=', 's.current_version'),
      )
      .select(keyColumns)
      .select(['s.name as source_name', 'v.delivery', 's.current_version'])
      .select(['c.uuid as company_uuid', 'c.name as company_name', 'c.timezone'])
      .where('k.hash', '=', p.hash),
  );
}

function shapeQuery({ db }: Db) {
  return once<{ source: DbUuid; version: number }>()((p) =>
    selectShapes(db)
      .innerJoin('sources as s', 's.id', 'v.source_id')
      .where('s.uuid', '=', p.source)
      .where('v.version', '=', p.version),
  );
}
