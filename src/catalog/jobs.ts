import type { Kysely, Transaction } from 'kysely';
import { personalNames } from '../domain/personal.ts';
import { assert } from '../std/assert.ts';
import type { Job } from './catalog.ts';
import {
  companyOf,
  deliveryOf,
  metricOf,
  selectCompanies,
  selectDeliveries,
  selectMetrics,
  selectShapes,
  shapeOf,
} from './rows.ts';
import type { Db, Schema } from './schema.ts';

/**
 * What the parse loop needs of each claimed delivery, in accepted order. Deliveries of one source
 * share their shape, company and metrics, so each is read once.
 */
export async function jobsOf(
  at: Db,
  trx: Transaction<Schema>,
  sequences: readonly number[],
  token: string,
): Promise<Job[]> {
  const rows = await selectDeliveries(trx)
    .where('d.sequence', 'in', sequences)
    .orderBy('d.sequence')
    .execute();
  const { shapes, companies, metrics, personal } = basisReads(at, trx);
  const jobs: Job[] = [];
  for (const row of rows) {
    const again = row.next_generation !== null;
    const metricsUpTo = again ? row.next_metrics_up_to : row.metrics_up_to;
    const version = again ? row.next_shape_version : row.shape_version;
    assert(metricsUpTo !== null, 'a claimed delivery has its basis of metrics');
    assert(version !== null, 'a next generation has its shape version');
    jobs.push({
      artifactId: at.dialect.uuid.fromDb(row.artifact_id),
      token,
      delivery: deliveryOf(at, row),
      generation: row.next_generation ?? row.generation,
      refusal: row.next_refusal === null ? null : JSON.parse(row.next_refusal),
      shape: await shapes(row.source_id, version),
      company: await companies(row.company_id),
      metrics: await metrics(row.company_id, metricsUpTo),
      personalNow: await personal(row.source_id),
      failures: row.failures,
    });
  }
  return jobs;
}

/** Reads what parses rest on; what several share is read once. */
export function basisReads(at: Db, db: Kysely<Schema>) {
  return {
    shapes: memo((source: number, version: number) => shapeIn(db, source, version)),
    companies: memo((id: number) => companyIn(at, db, id)),
    metrics: memo((company: number, upTo: number) => metricsIn(db, company, upTo)),
    personal: memo((source: number) => personalIn(db, source)),
  };
}

async function shapeIn(db: Kysely<Schema>, source: number, version: number) {
  const select = selectShapes(db)
    .where('v.source_id', '=', source)
    .where('v.version', '=', version);
  return shapeOf(await select.executeTakeFirstOrThrow());
}

async function personalIn(db: Kysely<Schema>, source: number) {
  const select = selectShapes(db)
    .innerJoin('sources as s', (on) =>
      on.onRef('s.id', '=', 'v.source_id').onRef('s.current_version', '=', 'v.version'),
    )
    .where('v.source_id', '=', source);
  return personalNames(shapeOf(await select.executeTakeFirstOrThrow()).fields);
}

async function companyIn(at: Db, db: Kysely<Schema>, id: number) {
  return companyOf(at, await selectCompanies(db).where('c.id', '=', id).executeTakeFirstOrThrow());
}

async function metricsIn(db: Kysely<Schema>, company: number, upTo: number) {
  const select = selectMetrics(db)
    .where('m.company_id', '=', company)
    .where('m.id', '<=', upTo)
    .orderBy('m.id');
  return (await select.execute()).map(metricOf);
}

function memo<A extends number[], T>(read: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  const kept = new Map<string, Promise<T>>();
  return (...args) => {
    const name = args.join(':');
    const known = kept.get(name) ?? read(...args);
    kept.set(name, known);
    return known;
  };
}
