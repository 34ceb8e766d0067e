import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import type { KnownDelivery, Lookup, Probe } from '../catalog.ts';
import { holderOf, openLookup, type Prepare, selectHolders } from '../lookup.ts';
import { type Once, once } from '../once.ts';
import type { Db } from '../schema.ts';
import { gathered } from './gathered.ts';
import type { Known } from './judge.ts';
import { knownText } from './ledger-statements.ts';

/**
 * The hot reads, of which those of all requests at once cost one round trip. No answer is kept but
 * shape versions, which never change: a key is refused by the request after its revocation, on
 * every node.
 */
export function lookupTogether(pool: pg.Pool, at: Db): Lookup {
  const key = keysTogether(pool, at);
  const known = knownTogether(pool);
  return { ...openLookup(at, prepareOn(pool)), key, known };
}

function keysTogether(pool: pg.Pool, at: Db): Lookup['key'] {
  const holders = once<{ hashes: readonly string[] }>()((p) =>
    selectHolders(at.db).select('k.hash').where(sql<SqlBool>`k.hash = any(${p.hashes})`),
  );
  const read = prepareOn(pool).all(holders);
  return gathered(async (hashes: readonly Buffer[]) => {
    const names = hashes.map((hash) => hash.toString('hex'));
    const rows = await read({ hashes: [...new Set(names)].map((name) => `\\x${name}`) });
    const found = new Map(rows.map((row) => [row.hash.toString('hex'), holderOf(at, row)]));
    return names.map((name) => found.get(name) ?? null);
  });
}

function knownTogether(pool: pg.Pool): Lookup['known'] {
  return gathered(async (probes: readonly Probe[]) => {
    const asked = probes.map(({ sourceId: source, sandbox, idempotencyKey: key, sha256 }, i) => {
      return { i, source, sandbox, key, sha256: sha256.toString('hex') };
    });
    const { rows } = await pool.query<Known & { i: number; by: 'key' | 'body' }>({
      ...{ name: 'weir known', text: knownText, values: [JSON.stringify(asked)] },
    });
    const answers: (KnownDelivery | null)[] = probes.map(() => null);
    for (const { i, by, sha256, artifactId, shapeVersion, sandbox } of rows) {
      // The key decides, whatever the bytes lead to.
      if (by === 'body' && answers[i] !== null) continue;
      const receipt = { artifactId, shapeVersion, sandbox };
      answers[i] = { by, receipt, bodyDiffers: by === 'key' && sha256 !== asked[i]!.sha256 };
    }
    return answers;
  });
}

let prepared = 0;

/** Statements by name: each connection parses and plans them once. */
function prepareOn(pool: pg.Pool): Prepare {
  const prepare = <P, R extends object>(query: Once<P, R>) => {
    prepared += 1;
    const name = `weir ${prepared}`;
    return async (params: P) => {
      const values = query.values(params);
      return (await pool.query<R>({ name, text: query.sql, values })).rows;
    };
  };
  return {
    one: (query) => {
      const rows = prepare(query as Once<never, object>);
      return async (params) => (await rows(params as never))[0] as never;
    },
    all: (query) => prepare(query as Once<never, object>) as never,
  };
}
