import { type Kysely, type Selectable, sql } from 'kysely';
import type {
  AccessKey,
  Company,
  Counts,
  Delivery,
  Metric,
  ShapeVersion,
  Source,
} from '../domain/nouns.ts';
import type { SigningSecret } from '../domain/secrets.ts';
import type { DbBool, DbUuid } from './dialect.ts';
import type { Db, DeliveriesTable, Schema } from './schema.ts';

/** The selects that make nouns, and how a row becomes one. */

export function selectCompanies(db: Kysely<Schema>) {
  return db
    .selectFrom('companies as c')
    .select(['c.id', 'c.uuid as company_uuid', 'c.name as company_name', 'c.timezone']);
}

export function companyOf(
  { dialect }: Pick<Db, 'dialect'>,
  row: { company_uuid: DbUuid; company_name: string; timezone: string },
): Company {
  return {
    companyId: dialect.uuid.fromDb(row.company_uuid),
    name: row.company_name,
    timezone: row.timezone,
  };
}

export function selectMetrics(db: Kysely<Schema>) {
  return db.selectFrom('metrics as m').select(['m.key', 'm.name', 'm.unit', 'm.labels']);
}

export function metricOf(row: { key: string; name: string; unit: string; labels: string }): Metric {
  return { key: row.key, name: row.name, unit: row.unit, labels: JSON.parse(row.labels) };
}

export function selectSources(db: Kysely<Schema>) {
  return db
    .selectFrom('sources as s')
    .innerJoin('companies as c', 'c.id', 's.company_id')
    .innerJoin('shape_versions as v', (on) =>
      on.onRef('v.source_id', '=', 's.id').onRef('v.version', '=', 's.current_version'),
    )
    .select([
      's.uuid as source_uuid',
      'c.uuid as company_uuid',
      's.name as source_name',
      'v.delivery',
      's.current_version',
    ]);
}

export function sourceOf(
  { dialect }: Pick<Db, 'dialect'>,
  row: {
    source_uuid: DbUuid;
    company_uuid: DbUuid;
    source_name: string;
    delivery: Source['delivery'];
    current_version: number;
  },
): Source {
  return {
    sourceId: dialect.uuid.fromDb(row.source_uuid),
    companyId: dialect.uuid.fromDb(row.company_uuid),
    name: row.source_name,
    delivery: row.delivery,
    shapeVersion: row.current_version,
  };
}

export function selectShapes(db: Kysely<Schema>) {
  return db
    .selectFrom('shape_versions as v')
    .select(['v.version', 'v.delivery', 'v.format', 'v.fields', 'v.saved_at', 'v.saved_by']);
}

export function shapeOf(row: {
  version: number;
  delivery: ShapeVersion['delivery'];
  format: ShapeVersion['format'];
  fields: string;
  saved_at: number;
  saved_by: string;
}): ShapeVersion {
  return {
    version: row.version,
    delivery: row.delivery,
    format: row.format,
    fields: JSON.parse(row.fields),
    savedAt: row.saved_at,
    savedBy: row.saved_by,
  };
}

export const keyColumns = [
  'k.uuid as key_uuid',
  's.uuid as source_uuid',
  'k.scope',
  'k.sandbox',
  'k.created_at',
  'k.expires_at',
  'k.last_used_at',
  'k.revoked_at',
  'k.demo',
  'k.rotated_to',
] as const;

/** What is known of the samples of the source `s` (`SamplesState`), within one snapshot. */
export const samplesColumns = [
  sql<number>`coalesce((select version from samples_versions where source_id = s.id), 0)
    + coalesce((select version from samples_versions where source_id = 0), 0)`.as(
    'samples_version',
  ),
  sql<number | null>`(select min(until_at) from settle_turns where source_id in (s.id, 0))`.as(
    'turn_ends_at',
  ),
] as const;

export function selectKeys(db: Kysely<Schema>) {
  return db
    .selectFrom('access_keys as k')
    .innerJoin('sources as s', 's.id', 'k.source_id')
    .select(keyColumns);
}

export function keyOf(
  { dialect }: Pick<Db, 'dialect'>,
  row: {
    key_uuid: DbUuid;
    source_uuid: DbUuid;
    scope: AccessKey['scope'] | null;
    sandbox: DbBool;
    created_at: number;
    expires_at: number;
    last_used_at: number | null;
    revoked_at: number | null;
    demo: DbBool;
    rotated_to: DbUuid | null;
  },
): AccessKey {
  return {
    keyId: dialect.uuid.fromDb(row.key_uuid),
    sourceId: dialect.uuid.fromDb(row.source_uuid),
    // Keys made before scopes existed are `write` (specification, "Access keys").
    scope: row.scope ?? 'write',
    sandbox: dialect.bool.fromDb(row.sandbox),
    demo: dialect.bool.fromDb(row.demo),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    rotatedTo: row.rotated_to === null ? null : dialect.uuid.fromDb(row.rotated_to),
  };
}

export const secretColumns = [
  'g.uuid as secret_uuid',
  'g.sealed',
  'g.created_at',
  'g.ends_at',
  'g.last_used_at',
] as const;

export function secretOf(
  { dialect }: Pick<Db, 'dialect'>,
  row: {
    secret_uuid: DbUuid;
    sealed: Buffer;
    created_at: number;
    ends_at: number | null;
    last_used_at: number | null;
  },
): SigningSecret {
  return {
    secretId: dialect.uuid.fromDb(row.secret_uuid),
    sealed: row.sealed,
    createdAt: row.created_at,
    endsAt: row.ends_at,
    lastUsedAt: row.last_used_at,
  };
}

export function selectDeliveries(db: Kysely<Schema>) {
  return db
    .selectFrom('deliveries as d')
    .innerJoin('sources as s', 's.id', 'd.source_id')
    .selectAll('d')
    .select(['s.uuid as source_uuid', sql<number>`s.company_id`.as('company_id')]);
}

export type DeliveryRow = Selectable<DeliveriesTable> & { source_uuid: DbUuid };

export function deliveryOf({ dialect }: Pick<Db, 'dialect'>, row: DeliveryRow): Delivery {
  return {
    artifactId: dialect.uuid.fromDb(row.artifact_id),
    sourceId: dialect.uuid.fromDb(row.source_uuid),
    sandbox: dialect.bool.fromDb(row.sandbox),
    sequence: row.sequence,
    receiptShapeVersion: row.receipt_shape_version,
    shapeVersion: row.shape_version,
    generation: row.generation,
    status: row.status,
    sha256: row.sha256.toString('hex'),
    bytes: row.bytes,
    delivery: row.delivery,
    mediaType: row.media_type,
    encoding: row.encoding,
    receivedAt: row.received_at,
    place: { object: row.object, offset: row.object_offset, length: row.object_length },
    secretId: row.secret_id === null ? null : dialect.uuid.fromDb(row.secret_id),
    counts: countsOf(row),
    refusal: row.refusal === null ? null : JSON.parse(row.refusal),
    undeclaredFields: row.undeclared_fields === null ? [] : JSON.parse(row.undeclared_fields),
  };
}

function countsOf(row: DeliveryRow): Counts | null {
  const { records, parsed, rejected, samples, blank, superseded_within: within } = row;
  if (records === null || parsed === null || rejected === null) return null;
  if (samples === null || blank === null || within === null) return null;
  return { records, parsed, rejected, samples, blank, supersededWithin: within };
}
