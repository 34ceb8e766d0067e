import type { InferResult, Kysely } from 'kysely';
import type { ShapeVersion } from '../domain/nouns.ts';
import type { KeyHolder, Lookup } from './catalog.ts';
import { type DbUuid, isUuid } from './dialect.ts';
import { knownByBody, knownByKey, knownQueries } from './known.ts';
import { type Once, once } from './once.ts';
import {
  companyOf,
  keyColumns,
  keyOf,
  samplesColumns,
  secretColumns,
  secretOf,
  selectShapes,
  selectSources,
  shapeOf,
  sourceOf,
} from './rows.ts';
import type { Db, Schema } from './schema.ts';

/** Prepares a query for many runs. */
export interface Prepare {
  /** For its first row. */
  one<P, R>(query: Once<P, R>): (params: P) => Promise<R | undefined>;
  all<P, R>(query: Once<P, R>): (params: P) => Promise<R[]>;
}

/** Shapes that are kept in memory. */
const shapesMax = 1_000;

/** Each question is one or two prepared statements on keys of an index. */
export function openLookup(at: Db, prepare: Prepare): Lookup {
  const { dialect } = at;
  const holder = prepare.one(keyHolderQuery(at));
  const shape = prepare.one(shapeQuery(at));
  const shapes = new Map<string, ShapeVersion>();
  const signed = prepare.all(signedSourceQuery(at));
  const known = knownQueries(at);
  const any = prepare.one(known.any);
  const byKey = prepare.one(known.byKey);
  const byBody = prepare.one(known.byBody);
  return {
    async key(hash): Promise<KeyHolder | null> {
      const row = await holder({ hash });
      return row ? holderOf(at, row) : null;
    },
    async shape(sourceId, version) {
      // A version is never edited (DECISIONS 1).
      const name = `${sourceId}/${version}`;
      const kept = shapes.get(name);
      if (kept) return kept;
      const row = await shape({ source: dialect.uuid.toDb(sourceId), version });
      if (!row) return null;
      if (shapes.size >= shapesMax) shapes.clear();
      const found = shapeOf(row);
      shapes.set(name, found);
      return found;
    },
    async signedSource(sourceId, now) {
      // The id is a stranger's text; what is no uuid is no source either.
      const rows = isUuid(sourceId)
        ? await signed({ source: dialect.uuid.toDb(sourceId), now })
        : [];
      const [first] = rows;
      if (!first) return null;
      const secrets = rows.flatMap((row) => (hasSecret(row) ? [secretOf(at, row)] : []));
      return { source: sourceOf(at, first), company: companyOf(at, first), secrets };
    },
    async keyIsKnown({ sourceId, sandbox, idempotencyKey: key }) {
      const source = dialect.uuid.toDb(sourceId);
      return (await byKey({ source, sandbox: dialect.bool.toDb(sandbox), key })) !== undefined;
    },
    async known(probe) {
      const source = dialect.uuid.toDb(probe.sourceId);
      const sandbox = dialect.bool.toDb(probe.sandbox);
      const { idempotencyKey: key, sha256 } = probe;
      // Nearly always there is nothing: that is one question.
      if (!(await any({ source, sandbox, key, sha256 }))) return null;
      const named = await byKey({ source, sandbox, key });
      if (named) return knownByKey(at, named, probe);
      const same = await byBody({ source, sandbox, sha256 });
      return same ? knownByBody(at, same) : null;
    },
  };
}

function keyHolderQuery({ db }: Db) {
  return once<{ hash: Buffer }>()((p) => selectHolders(db).where('k.hash', '=', p.hash));
}

export function selectHolders(db: Kysely<Schema>) {
  return db
    .selectFrom('access_keys as k')
    .innerJoin('sources as s', 's.id', 'k.source_id')
    .innerJoin('companies as c', 'c.id', 's.company_id')
    .innerJoin('shape_versions as v', (on) =>
      on.onRef('v.source_id', '=', 's.id').onRef('v.version', '=', 's.current_version'),
    )
    .select(keyColumns)
    .select(['s.name as source_name', 'v.delivery', 's.current_version'])
    .select(['c.uuid as company_uuid', 'c.name as company_name', 'c.timezone'])
    .select(samplesColumns);
}

type HolderRow = InferResult<ReturnType<typeof selectHolders>>[number];

export function holderOf(at: Db, row: HolderRow): KeyHolder {
  return {
    ...{ key: keyOf(at, row), source: sourceOf(at, row), company: companyOf(at, row) },
    samples: { version: row.samples_version, turnEndsAt: row.turn_ends_at },
  };
}

/** The source once for each secret that works at `now`, or once with none; newest first. */
function signedSourceQuery({ db }: Db) {
  return once<{ source: DbUuid; now: number }>()((p) =>
    selectSources(db)
      .leftJoin('signing_secrets as g', (on) =>
        on
          .onRef('g.source_id', '=', 's.id')
          .on((eb) => eb.or([eb('g.ends_at', 'is', null), eb('g.ends_at', '>', p.now)])),
      )
      .select(secretColumns)
      .select(['c.name as company_name', 'c.timezone'])
      .where('s.uuid', '=', p.source)
      .orderBy('g.id', 'desc'),
  );
}

type MaybeSecret = { [K in keyof SecretRow]: SecretRow[K] | null };
type SecretRow = Parameters<typeof secretOf>[1];

function hasSecret<R extends MaybeSecret>(row: R): row is R & SecretRow {
  return row.secret_uuid !== null;
}

function shapeQuery({ db }: Db) {
  return once<{ source: DbUuid; version: number }>()((p) =>
    selectShapes(db)
      .innerJoin('sources as s', 's.id', 'v.source_id')
      .where('s.uuid', '=', p.source)
      .where('v.version', '=', p.version),
  );
}
