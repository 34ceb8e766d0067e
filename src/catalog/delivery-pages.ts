import { type Kysely, sql } from 'kysely';
import { countedMax } from '../domain/counted.ts';
import type { DeliveryStatus } from '../domain/nouns.ts';
import { assert } from '../std/assert.ts';
import type { DeliveryDetails, DeliveryPages, PageFilter } from './delivery-pages-contract.ts';
import type { CatalogDialect } from './dialect.ts';
import { deliveryOf, selectDeliveries } from './rows.ts';
import type { Db, DeliveriesTable, Schema } from './schema.ts';

export const allStatuses: readonly DeliveryStatus[] = ['queued', 'parsing', 'parsed', 'rejected'];

export function deliveryPagesReads(at: Db): DeliveryPages {
  const { db, dialect } = at;
  return {
    async page(sourceId, filter, page) {
      const chosen = chosenIn(at, sourceId, filter, page);
      const rows = await selectDeliveries(db)
        .where('d.sequence', 'in', db.selectFrom(chosen.as('chosen')).select('sequence'))
        .select((eb) => [
          eb
            .selectFrom('delivery_keys as k')
            .select('k.key')
            .whereRef('k.sequence', '=', 'd.sequence')
            .where('k.ordinal', '=', 0)
            .as('first_key'),
          sql<number>`(select count(*) from (select 1 from delivery_conflicts as c
            where c.sequence = d.sequence limit ${countedMax.conflicts}) as found)`.as('conflicts'),
        ])
        .orderBy('d.received_at', 'desc')
        .orderBy('d.sequence', 'desc')
        .execute();
      return rows.map((row) => {
        assert(row.first_key !== null, 'a delivery has a name');
        const { first_key: firstKey, conflicts, damage } = row;
        return { delivery: deliveryOf(at, row), firstKey, conflicts, damage };
      });
    },
    async named(sourceId, { text, whole }, limit) {
      // Each in the order of its index, so that no more names are read than are asked for.
      const named = (sandbox: boolean) => {
        const select = db
          .selectFrom('delivery_keys as k')
          .select(['k.key', 'k.sequence'])
          .where('k.source_id', '=', sourceOf(at, sourceId))
          .where('k.sandbox', '=', dialect.bool.toDb(sandbox))
          .orderBy('k.key')
          .limit(limit);
        const found = whole
          ? select.where('k.key', '=', text)
          : select.where('k.key', '>=', text).where('k.key', '<', `${text}${lastCodePoint}`);
        return db.selectFrom(found.as('found')).selectAll();
      };
      const all = named(false).unionAll(named(true)).as('all');
      return await db.selectFrom(all).selectAll().orderBy('key').limit(limit).execute();
    },
    async counts(sourceId, filter, max) {
      const counted = (status: DeliveryStatus) => {
        const ofBoth = branches(at, sourceId, { ...filter, status }).map(
          (branch) => sql`(select count(*) from (${branch.limit(max)}) as found)`,
        );
        return sql<number>`${sql.join(ofBoth, sql` + `)}`;
      };
      const { rows } = await sql<Record<DeliveryStatus, number>>`select ${sql.join(
        allStatuses.map((status) => sql`${counted(status)} as ${sql.ref(status)}`),
      )}`.execute(db);
      const found = allStatuses.map((status) => [status, Math.min(max, rows[0]![status])]);
      return Object.fromEntries(found);
    },
    details: (artifactId, limit) => details(at, artifactId, limit),
  };
}

/** Above every text that goes on with anything but itself. */
const lastCodePoint = '\u{10ffff}';

function sourceOf({ db, dialect }: Db, sourceId: string) {
  return db.selectFrom('sources').select('id').where('uuid', '=', dialect.uuid.toDb(sourceId));
}

type Bounds = Pick<PageFilter, 'sandbox' | 'status' | 'receivedFrom' | 'receivedBefore'>;

/**
 * A filter as stretches of one index, in which what is asked for lies together and in order: one
 * for each status, in production and in sandbox.
 */
function branches(at: Db, sourceId: string, filter: Bounds) {
  const statuses = filter.status === undefined ? allStatuses : [filter.status];
  return statuses.flatMap((status) =>
    sandboxes(at.dialect, filter).map((sandbox) =>
      within(
        at.db
          .selectFrom('deliveries')
          .select(['received_at', 'sequence'])
          .where('source_id', '=', sourceOf(at, sourceId))
          .where('sandbox', '=', sandbox)
          // A literal: the same text of a statement for each status would be planned for all.
          .where('status', '=', sql.lit(status)),
        filter,
      ),
    ),
  );
}

export function sandboxes({ bool }: CatalogDialect, { sandbox }: { sandbox?: boolean }) {
  return sandbox === undefined ? [bool.toDb(false), bool.toDb(true)] : [bool.toDb(sandbox)];
}

interface Narrowed<Self> {
  where(column: 'received_at', operator: '>=' | '<', value: number): Self;
}

function within<Q extends Narrowed<Q>>(
  select: Q,
  { receivedFrom, receivedBefore }: Pick<Bounds, 'receivedFrom' | 'receivedBefore'>,
): Q {
  let narrowed = select;
  if (receivedFrom !== undefined) narrowed = narrowed.where('received_at', '>=', receivedFrom);
  if (receivedBefore !== undefined) narrowed = narrowed.where('received_at', '<', receivedBefore);
  return narrowed;
}

type Page = Parameters<DeliveryPages['page']>[2];

/** Received last first; the same order in every part of a page. */
function chosenIn(at: Db, sourceId: string, filter: PageFilter, page: Page) {
  const parts =
    filter.sequences !== undefined
      ? [amongSequences(at, sourceId, filter, filter.sequences)]
      : filter.conflicting
        ? [withConflicts(at, sourceId, filter)]
        : filter.rejecting
          ? withRejections(at, sourceId, filter)
          : branches(at, sourceId, filter);
  const [first, ...others] = parts.map((part) =>
    at.db.selectFrom(cut(part as Listed, page).as('part')).selectAll(),
  );
  const all = others.reduce((union, part) => union.unionAll(part), first!);
  return at.db
    .selectFrom(all.as('parts'))
    .select('sequence')
    .orderBy('received_at', 'desc')
    .orderBy('sequence', 'desc')
    .limit(page.limit);
}

type Listed = ReturnType<typeof branches>[number];

function cut(part: Listed, { after, limit }: Page): Listed {
  let select = part.orderBy('received_at', 'desc').orderBy('sequence', 'desc').limit(limit);
  if (after !== undefined) {
    const { receivedAt, sequence } = after;
    select = select
      // Also said alone: by this one the index is entered.
      .where('received_at', '<=', receivedAt)
      .where((eb) => eb.or([eb('received_at', '<', receivedAt), eb('sequence', '<', sequence)]));
  }
  return select;
}

function amongSequences(
  at: Db,
  sourceId: string,
  filter: PageFilter,
  sequences: readonly number[],
) {
  // No delivery has the sequence 0; not every database takes a list of none.
  const some = sequences.length === 0 ? [0] : sequences;
  let select = at.db
    .selectFrom('deliveries')
    .select(['received_at', 'sequence'])
    .where('sequence', 'in', some)
    .where(apart('source_id'), '=', sourceOf(at, sourceId))
    .where(apart('sandbox'), 'in', sandboxes(at.dialect, filter));
  if (filter.status !== undefined) select = select.where(apart('status'), '=', filter.status);
  if (filter.rejecting) select = select.where('rejected', '>', 0);
  if (filter.conflicting) {
    select = select.where('sequence', 'in', (eb) =>
      eb.selectFrom('delivery_conflicts').select('sequence').where('sequence', 'in', some),
    );
  }
  return within(select, filter);
}

/** A column's value, by which no index is entered. */
function apart<C extends 'source_id' | 'sandbox' | 'status'>(column: C) {
  return sql<DeliveriesTable[C]>`coalesce(${sql.ref(column)}, ${sql.ref(column)})`;
}

/** As `branches`, by an index that holds only these. */
function withRejections(at: Db, sourceId: string, filter: PageFilter) {
  return sandboxes(at.dialect, filter).map((sandbox) => {
    const select = at.db
      .selectFrom('deliveries')
      .select(['received_at', 'sequence'])
      .where('source_id', '=', sourceOf(at, sourceId))
      .where('sandbox', '=', sandbox)
      .where('rejected', '>', sql.lit(0));
    const { status } = filter;
    return within(status === undefined ? select : select.where('status', '=', status), filter);
  });
}

/** Few deliveries have any: those are found first, and their states then. */
function withConflicts(at: Db, sourceId: string, filter: PageFilter) {
  const { db } = at;
  const conflicting = within(
    db
      .selectFrom('delivery_conflicts')
      .select(['received_at', 'sequence'])
      .distinct()
      .where('source_id', '=', sourceOf(at, sourceId)),
    filter,
  );
  let select = db
    .selectFrom(conflicting.as('c'))
    .innerJoin('deliveries as d', 'd.sequence', 'c.sequence')
    .select(['c.received_at', 'c.sequence'])
    .where('d.sandbox', 'in', sandboxes(at.dialect, filter));
  if (filter.status !== undefined) select = select.where('d.status', '=', filter.status);
  if (filter.rejecting) select = select.where('d.rejected', '>', 0);
  return db.selectFrom(select.as('found')).select(['received_at', 'sequence']);
}

async function details(at: Db, artifactId: string, limit: number): Promise<DeliveryDetails | null> {
  const { db, dialect } = at;
  const row = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('artifact_id', '=', dialect.uuid.toDb(artifactId))
    .executeTakeFirst();
  if (!row) return null;
  const keys = await db
    .selectFrom('delivery_keys')
    .select(['key', 'named_at'])
    .where('sequence', '=', row.sequence)
    .orderBy('ordinal')
    .limit(limit)
    .execute();
  const conflicts = await db
    .selectFrom('delivery_conflicts')
    .select(['key', 'sha256', 'at'])
    .where('sequence', '=', row.sequence)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const { next_generation: generation, next_shape_version: shapeVersion } = row;
  return {
    settledAt: row.settled_at,
    parserVersion: row.parser_version,
    waitsFor: generation === null ? null : { generation, shapeVersion: shapeVersion! },
    checkedAt: row.checked_at,
    damage: row.damage,
    keys: {
      count: await countOf(db, 'delivery_keys', row.sequence),
      first: keys.map(({ key, named_at: namedAt }) => ({ key, namedAt })),
    },
    conflicts: {
      count: await countOf(db, 'delivery_conflicts', row.sequence),
      newest: conflicts.map((one) => ({ ...one, sha256: one.sha256.toString('hex') })),
    },
  };
}

async function countOf(
  db: Kysely<Schema>,
  table: 'delivery_keys' | 'delivery_conflicts',
  sequence: number,
): Promise<number> {
  const some = db
    .selectFrom(table)
    .select('sequence')
    .where('sequence', '=', sequence)
    .limit(countedMax.beside);
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
