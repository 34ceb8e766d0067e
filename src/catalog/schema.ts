import type { Generated, Kysely } from 'kysely';
import type { DeliveryStatus, DeliveryWay, DocumentFormat, Scope } from '../domain/nouns.ts';
import type { CatalogDialect, DbBool, DbUuid } from './dialect.ts';
import type { Damage } from './upkeep-contract.ts';
import type { Challenge } from './users-contract.ts';

/** The tables as the newest migration leaves them. Ids inside are integers, uuids outside. */
export interface Schema {
  companies: CompaniesTable;
  metrics: MetricsTable;
  sources: SourcesTable;
  shape_versions: ShapeVersionsTable;
  access_keys: AccessKeysTable;
  signing_secrets: SigningSecretsTable;
  deliveries: DeliveriesTable;
  /** Only where deliveries are in partitions; elsewhere their own columns are unique. */
  delivery_bodies: DeliveryBodiesTable;
  delivery_keys: DeliveryKeysTable;
  delivery_conflicts: DeliveryConflictsTable;
  audit_log: AuditLogTable;
  counters: CountersTable;
  settle_turns: SettleTurnsTable;
  samples_versions: SamplesVersionsTable;
  catalog_state: CatalogStateTable;
  users: UsersTable;
  invitations: InvitationsTable;
  passkeys: PasskeysTable;
  challenges: ChallengesTable;
  sessions: SessionsTable;
  check_results: CheckResultsTable;
  catalog_migrations: MigrationsTable;
}

/** A database with the differences it has. */
export interface Db {
  readonly db: Kysely<Schema>;
  readonly dialect: CatalogDialect;
}

interface CompaniesTable {
  id: Generated<number>;
  uuid: DbUuid;
  name: string;
  timezone: string;
  created_at: number;
}

interface MetricsTable {
  /** Grows with each declaration, so that "the metrics up to here" can be said in one number. */
  id: Generated<number>;
  company_id: number;
  key: string;
  name: string;
  unit: string;
  /** JSON array of names, sorted by their UTF-8 bytes. */
  labels: string;
  declared_at: number;
}

interface SourcesTable {
  id: Generated<number>;
  uuid: DbUuid;
  company_id: number;
  name: string;
  current_version: number;
  created_at: number;
  /** Highest sequence of a delivery whose parse again was ever begun; 0 before the first. */
  reparsed_up_to: Generated<number>;
  /** Generation of the latest withdrawal whose text is still to be forgotten; null: none is. */
  forget_below: number | null;
}

interface ShapeVersionsTable {
  source_id: number;
  version: number;
  delivery: DeliveryWay;
  format: DocumentFormat;
  /** JSON array of fields, in order. */
  fields: string;
  saved_at: number;
  saved_by: string;
}

interface AccessKeysTable {
  id: Generated<number>;
  uuid: DbUuid;
  source_id: number;
  hash: Buffer;
  /** Null: made before scopes existed, which means `write`. */
  scope: Scope | null;
  sandbox: DbBool;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
  demo: DbBool;
  /** The uuid, not the id, of the key that took its place: a lookup then needs no join for it. */
  rotated_to: DbUuid | null;
}

interface SigningSecretsTable {
  /** Grows with each secret of a source: its newest one is the current one, or all have ended. */
  id: Generated<number>;
  uuid: DbUuid;
  source_id: number;
  /** Nonce, tag and ciphertext; the uuid as text is authenticated with it. */
  sealed: Buffer;
  created_at: number;
  /** Null: the current one. */
  ends_at: number | null;
  last_used_at: number | null;
}

export interface DeliveriesTable {
  /** The accepted order: grows in the order of the commits. */
  sequence: Generated<number>;
  artifact_id: DbUuid;
  source_id: number;
  sandbox: DbBool;
  receipt_shape_version: number;
  shape_version: number;
  generation: number;
  sha256: Buffer;
  bytes: number;
  delivery: DeliveryWay;
  media_type: string;
  encoding: 'identity' | 'gzip' | 'zstd';
  received_at: number;
  object: string;
  object_offset: number;
  object_length: number;

  status: DeliveryStatus;
  /** `queued`: not to be claimed before this. `parsing`: when its lease runs out. */
  due_at: number;
  /** Set while `parsing`. A re-parse must clear it, so that the old generation's lease is lost. */
  lease_token: DbUuid | null;
  failures: number;
  crashes: number;
  /** Highest metric id in effect for this generation's parse; null before its first claim. */
  metrics_up_to: number | null;
  /** Null while the delivery waits or is parsed: the queue is the rows where it is null. */
  settled_at: number | null;
  parser_version: number | null;
  /** The six counts; null until settled for the first time. */
  records: number | null;
  parsed: number | null;
  rejected: number | null;
  samples: number | null;
  blank: number | null;
  superseded_within: number | null;
  /** JSON of the rejection of the delivery as a whole. */
  refusal: string | null;
  /** JSON array of names. */
  undeclared_fields: string | null;
  /** Of a webhook: the uuid of the signing secret that verified it. */
  secret_id: DbUuid | null;

  /** The generation that is waited for; null: none. What stands stays as it is until then. */
  next_generation: number | null;
  next_shape_version: number | null;
  /** As `metrics_up_to`, of the next generation. */
  next_metrics_up_to: number | null;
  /** JSON of a rejection: there is nothing to parse, the next generation is this refusal. */
  next_refusal: string | null;

  /** When its stored bytes were last compared with `sha256`; null: not yet. */
  checked_at: number | null;
  /** What was wrong with them then; null: nothing. */
  damage: Damage | null;
}

interface DeliveryBodiesTable {
  source_id: number;
  sandbox: DbBool;
  sha256: Buffer;
  sequence: number;
  artifact_id: DbUuid;
}

interface DeliveryKeysTable {
  source_id: number;
  sandbox: DbBool;
  key: string;
  sequence: number;
  /** 0 is the first name of its delivery. */
  ordinal: number;
  named_at: number;
}

interface DeliveryConflictsTable {
  id: Generated<number>;
  sequence: number;
  key: string;
  sha256: Buffer;
  at: number;
  /** Of its delivery. */
  source_id: number;
  received_at: number;
}

interface AuditLogTable {
  id: Generated<number>;
  at: number;
  actor: string;
  action: string;
  /** JSON object. */
  about: string;
}

interface CountersTable {
  name: 'generation';
  value: number;
}

interface SettleTurnsTable {
  /** 0: all sources. */
  source_id: number;
  token: DbUuid;
  until_at: number;
}

interface SamplesVersionsTable {
  /** 0: all sources. */
  source_id: number;
  version: number;
}

/** One row. */
interface CatalogStateTable {
  only: number;
  catalog_id: DbUuid;
  /** The next delivery's sequence is greater than this, too. */
  sequence_above: number;
  /** The round of checks over all artifacts: the last sequence taken, and when it began. */
  checked_up_to: number;
  checks_began_at: number;
}

interface UsersTable {
  id: Generated<number>;
  uuid: DbUuid;
  company_id: number;
  email: string;
  /** The email as emails are compared. */
  email_folded: string;
  /** JSON array. */
  permissions: string;
  created_at: number;
}

/** One that is used is deleted. */
interface InvitationsTable {
  /** SHA-256 of its token. */
  hash: Buffer;
  user_id: number;
  ends_at: number;
}

interface PasskeysTable {
  id: Generated<number>;
  user_id: number;
  credential_id: string;
  public_key: Buffer;
  counter: number;
  /** JSON array. */
  transports: string;
  created_at: number;
  last_used_at: number | null;
}

interface ChallengesTable {
  /** Grows with each challenge, so that the oldest can be told. */
  id: Generated<number>;
  challenge: string;
  purpose: Challenge['purpose'];
  /** The uuid, not the id: nothing of the user is asked for with it. */
  user_uuid: DbUuid | null;
  ends_at: number;
}

interface SessionsTable {
  /** SHA-256 of its token. */
  hash: Buffer;
  user_id: number;
  signed_in_at: number;
  ends_at: number;
}

/** The last result of each check. */
interface CheckResultsTable {
  name: 'verify' | 'rebuild';
  at: number;
  ms: number;
  swapped: DbBool;
  /** JSON object: how many by source uuid. */
  differences: string;
}

interface MigrationsTable {
  number: number;
  name: string;
  applied_at: number;
}
