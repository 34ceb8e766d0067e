import { sql } from 'kysely';
import type { Deliveries, DeliveryBasis, ParseBasis } from './deliveries-contract.ts';
import { basisReads } from './jobs.ts';
import { type DeliveryRow, deliveryOf, selectDeliveries } from './rows.ts';
import type { Db } from './schema.ts';

/** What a rebuild goes by. */
export function basesReads(at: Db): Pick<Deliveries, 'bases' | 'extent' | 'waiting'> {
  const { db } = at;
  return {
    bases: (page) => basesIn(at, page),
    async extent() {
      return await db
        .selectFrom('deliveries')
        .select([
          sql<number>`count(*)`.as('deliveries'),
          sql<number>`coalesce(sum(bytes), 0)`.as('bytes'),
        ])
        .executeTakeFirstOrThrow();
    },
    async waiting() {
      const waiting = db.selectFrom('deliveries').select('sequence');
      // Each of the two has a partial index of its own.
      const first = await waiting
        .where('settled_at', 'is', null)
        .where('next_generation', 'is', null)
        .execute();
      const next = await waiting.where('next_generation', 'is not', null).execute();
      return [...first, ...next].map((row) => row.sequence).sort((a, b) => a - b);
    },
  };
}

/**
 * One page of all deliveries in accepted order, each with what its parses rest on: the generation
 * that stands, and the one that a parse loop is at.
 */
async function basesIn(at: Db, page: Parameters<Deliveries['bases']>[0]): Promise<DeliveryBasis[]> {
  const rows = await selectDeliveries(at.db)
    .where('d.sequence', '>', page.after)
    .orderBy('d.sequence')
    .limit(page.limit)
    .execute();
  const { shapes, companies, metrics, personal } = basisReads(at, at.db);

  async function basis(
    row: DeliveryRow & { company_id: number },
    { generation, version, upTo }: Claimed,
  ): Promise<ParseBasis> {
    return {
      generation,
      shape: await shapes(row.source_id, version),
      // A delivery that was refused before anybody claimed it never had any.
      metrics: upTo === null ? [] : await metrics(row.company_id, upTo),
    };
  }

  const bases: DeliveryBasis[] = [];
  for (const row of rows) {
    const standing = standingOf(row);
    const underWay = underWayOf(row);
    bases.push({
      delivery: deliveryOf(at, row),
      company: await companies(row.company_id),
      personalNow: await personal(row.source_id),
      standing: standing && (await basis(row, standing)),
      parserVersion: row.parser_version,
      underWay: underWay && (await basis(row, underWay)),
    });
  }
  return bases;
}

interface Claimed {
  readonly generation: number;
  readonly version: number;
  readonly upTo: number | null;
}

/** What stands stays while a next generation is waited for: its counts say that it is there. */
function standingOf(row: DeliveryRow): Claimed | null {
  if (row.records === null) return null;
  const { generation, shape_version: version, metrics_up_to: upTo } = row;
  return { generation, version, upTo };
}

function underWayOf(row: DeliveryRow): Claimed | null {
  if (row.status !== 'parsing' || row.next_refusal !== null) return null;
  if (row.next_generation === null) {
    return row.records === null
      ? { generation: row.generation, version: row.shape_version, upTo: row.metrics_up_to }
      : null;
  }
  const { next_generation: generation, next_metrics_up_to: upTo } = row;
  // Put in line again while an earlier claim is held: not claimed yet.
  return upTo === null ? null : { generation, version: row.next_shape_version!, upTo };
}
