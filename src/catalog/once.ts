import type { CompiledQuery, Kysely } from 'kysely';
import { assert } from '../std/assert.ts';
import type { Schema } from './schema.ts';

/** A query that was built once and is run many times, with its parameters by name. */
export interface Once<P, R> {
  readonly sql: string;
  /** The parameters in the order in which the SQL has them. */
  values(params: P): unknown[];
  /** Runs it on a database or in a transaction; `changed` counts the rows it wrote. */
  run(db: Kysely<Schema>, params: P): Promise<{ rows: R[]; changed: number }>;
}

class Hole {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Builds a query once: building one with kysely costs several times what SQLite needs to run it.
 *
 * @example once<{ id: number }>()((p) => db.selectFrom('sources').where('id', '=', p.id))
 */
export function once<P extends object>() {
  return <R>(build: (p: P) => { compile(): CompiledQuery<R> }): Once<P, R> => {
    const holes = new Proxy({}, { get: (_, name) => new Hole(String(name)) }) as P;
    const compiled = build(holes).compile();
    const take = compiled.parameters.map((parameter) => {
      if (!(parameter instanceof Hole)) return () => parameter;
      const name = parameter.name as keyof P;
      return (params: P) => params[name];
    });
    const values = (params: P) =>
      take.map((one) => {
        const value = one(params);
        assert(value !== undefined, 'every parameter of a query is given');
        return value;
      });
    return {
      sql: compiled.sql,
      values,
      async run(db, params) {
        const answer = await db.executeQuery<R>({ ...compiled, parameters: values(params) });
        return { rows: answer.rows, changed: Number(answer.numAffectedRows ?? 0n) };
      },
    };
  };
}
