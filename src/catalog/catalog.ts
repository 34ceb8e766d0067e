import type {
  AccessKey,
  ArtifactPlace,
  Company,
  ContentEncoding,
  Counts,
  Delivery,
  DeliveryStatus,
  DeliveryWay,
  DocumentFormat,
  Field,
  Metric,
  Rejection,
  Scope,
  ShapeVersion,
  Source,
} from '../domain/nouns.ts';
import type { SigningSecret } from '../domain/secrets.ts';
import type { Audit } from './audit-contract.ts';
import type { CompanyFigures } from './company-figures-contract.ts';
import type { Deliveries } from './deliveries-contract.ts';
import type { DeliveryPages } from './delivery-pages-contract.ts';
import type { Reparses } from './reparses-contract.ts';
import type { SamplesState } from './samples-state.ts';
import type { SourceSummaries } from './source-summaries-contract.ts';
import type { Upkeep } from './upkeep-contract.ts';
import type { Users } from './users-contract.ts';

export type { Reparses, SettleTurn } from './reparses-contract.ts';

/**
 * The catalog decides: which deliveries exist, under which keys, in which order, in which state.
 *
 * Every method that changes something has made it durable when it resolves. None blocks the event
 * loop on a disk. Ids are uuids as text; times are milliseconds since 1970 and come in as
 * arguments. Absence is `null`. A catalog that cannot be reached throws `CatalogAway`; what a
 * caller may have got wrong throws `CatalogRefusal` (a text that is no uuid: `id_malformed`).
 */
export interface Catalog {
  readonly directory: Directory;
  readonly lookup: Lookup;
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly reparses: Reparses;
  readonly deliveries: Deliveries;
  readonly audit: Audit;
  readonly upkeep: Upkeep;
  readonly deliveryPages: DeliveryPages;
  readonly figures: CompanyFigures;
  readonly sourceSummaries: SourceSummaries;
  readonly users: Users;
  /**
   * Has `told` called when another process may have stored deliveries; more often than that, too.
   * Not every catalog can tell, and none tells all: who parses asks the queue by itself as well.
   */
  onQueued(told: () => void): void;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Companies, metrics, sources, shape versions and keys, as the operator declares them. */
export interface Directory {
  createCompany(company: Company, now: number): Promise<void>;
  company(companyId: string): Promise<Company | null>;
  /**
   * Declares a metric. The same key again with the same labels may change name and unit; with
   * other labels it is refused (`metric_labels_differ`). Unknown company: `company_not_found`.
   */
  declareMetric(companyId: string, metric: Metric, now: number): Promise<void>;
  /** In the order of their declaration. */
  metrics(companyId: string): Promise<Metric[]>;
  /**
   * Unknown company: `company_not_found`. A webhook source takes `secret` as its current one
   * (`secret_needed` without); others take none.
   */
  createSource(source: NewSource, now: number): Promise<SavedSource>;
  /**
   * Saves the next shape version; unknown source: `source_not_found`; not the version that the
   * save is based on: `version_outdated`. A source that becomes a
   * webhook source takes `secret` as its current one (`secret_needed` without); one that ceases
   * to be has all its secrets ended now. Deliveries of versions that give a role to a field which
   * is personal now get a next generation, at once: the refusal `personal_field` (DECISIONS 1).
   */
  saveSource(sourceId: string, save: SourceSave, now: number): Promise<SavedSource>;
  source(sourceId: string): Promise<Source | null>;
  /**
   * Unknown source: `source_not_found`. A sandbox key of a webhook source can only read; other
   * scopes are refused (`webhook_sandbox_key`).
   */
  createKey(key: NewKey, now: number): Promise<AccessKey>;
  key(keyId: string): Promise<AccessKey | null>;
  /** Unknown key: `key_not_found`. Revoking again keeps the first time. */
  revokeKey(keyId: string, now: number): Promise<AccessKey>;
  /**
   * Makes a key that takes another's place, with its scope and sandbox. The old key ends at
   * `overlapEndsAt`, or at its own expiry if that is earlier. A key that is revoked, expired or
   * rotated already is refused (`key_not_rotatable`). Returns the new key.
   */
  rotateKey(keyId: string, next: NextKey, now: number): Promise<AccessKey>;
  /** Puts last-used times forward, never back; unknown ids are passed over. */
  noteUses(uses: { keys: readonly Use[]; secrets: readonly Use[] }): Promise<void>;
  /** In the order of their creation. */
  keys(sourceId: string): Promise<AccessKey[]>;
  /**
   * Makes `secret` the current one; the one before works until `oldEndsAt`, any older one ends
   * now. No webhook source: `not_a_webhook_source`.
   */
  rotateSecret(sourceId: string, secret: NewSecret, oldEndsAt: number, now: number): Promise<void>;
  /** Newest first, ended ones too. */
  secrets(sourceId: string): Promise<SigningSecret[]>;
  /** The oldest secret that is some source's current one. */
  someCurrentSecret(): Promise<SigningSecret | null>;
}

export interface Use {
  /** Of the key or the secret. */
  readonly id: string;
  readonly at: number;
}

export interface NextKey {
  readonly keyId: string;
  readonly hash: Buffer;
  readonly expiresAt: number;
  readonly overlapEndsAt: number;
}

export interface NewSecret {
  readonly secretId: string;
  readonly sealed: Buffer;
}

export interface SavedSource extends Source {
  /** The secret that came with the call is the source's current one now. */
  readonly secretTaken: boolean;
  /** The deliveries that the save withdrew, and the generation that they wait for. */
  readonly withdrawn: { readonly deliveries: number; readonly generation: number } | null;
}

export interface NewSource {
  readonly sourceId: string;
  readonly companyId: string;
  readonly name: string;
  readonly delivery: DeliveryWay;
  readonly format: DocumentFormat;
  readonly fields: readonly Field[];
  readonly savedBy: string;
  /** Needed for a webhook source. */
  readonly secret?: NewSecret;
}

/** What is absent stays as it is in the current version. */
export interface SourceSave {
  readonly name?: string;
  readonly delivery?: DeliveryWay;
  readonly format?: DocumentFormat;
  readonly fields?: readonly Field[];
  readonly savedBy: string;
  /** The version that must be the current one; absent: any. */
  readonly basedOn?: number;
  /** Needed when it becomes a webhook source. */
  readonly secret?: NewSecret;
}

export interface NewKey {
  readonly keyId: string;
  readonly sourceId: string;
  /** SHA-256 of the whole key text. */
  readonly hash: Buffer;
  /** Null: a key of the time before scopes, which is `write`. */
  readonly scope: Scope | null;
  readonly sandbox: boolean;
  /** A demo deployment's published key. */
  readonly demo?: boolean;
  readonly expiresAt: number;
}

/** Hot reads, one or two for each request: microseconds, never stale by more than a commit. */
export interface Lookup {
  /** Whatever the key's state is: expired and revoked keys come too. */
  key(hash: Buffer): Promise<KeyHolder | null>;
  shape(sourceId: string, version: number): Promise<ShapeVersion | null>;
  /** A source with the secrets that have not ended at `now`, current one first; any way. */
  signedSource(sourceId: string, now: number): Promise<SignedSource | null>;
  /** Whether an idempotency key is taken, before the body has come. */
  keyIsKnown(name: Pick<Probe, 'sourceId' | 'sandbox' | 'idempotencyKey'>): Promise<boolean>;
  /** What is already known of a delivery, before its bytes are made durable. */
  known(probe: Probe): Promise<KnownDelivery | null>;
}

export interface KeyHolder {
  readonly key: AccessKey;
  readonly source: Source;
  readonly company: Company;
  /** Of the source, in the same moment. */
  readonly samples: SamplesState;
}

export interface SignedSource {
  readonly source: Source;
  readonly company: Company;
  readonly secrets: readonly SigningSecret[];
}

export interface Probe {
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly idempotencyKey: string;
  readonly sha256: Buffer;
}

/** `key`: the idempotency key is taken. `body`: only the same bytes are, under other keys. */
export interface KnownDelivery {
  readonly by: 'key' | 'body';
  readonly receipt: StoredReceipt;
  /** By key only: the bytes differ from the first ones. */
  readonly bodyDiffers: boolean;
}

export interface StoredReceipt {
  readonly artifactId: string;
  readonly shapeVersion: number;
  readonly sandbox: boolean;
}

/** Gives receipts. Calls are gathered into groups, each one durable transaction. */
export interface Ledger {
  /**
   * Claims key, body hash, sequence and receipt in one transaction (DECISIONS 5). The bytes at
   * `place` must be durable. `stored`: this call's delivery exists now. `replayed`: key or body
   * was known or won the race; the caller removes its object and answers the receipt. A body
   * known under other keys gains this key as another name. A known key with other bytes is
   * counted as a conflict of that delivery.
   *
   * `CatalogRefusal` (`source_not_found`, `shape_version_not_found`): nothing was claimed. After
   * `CatalogAway` the claim may hold or not: the object must stay, the sender repeats.
   */
  record(claim: Claim): Promise<Verdict>;
  /** For what `Lookup.known` found: adds the key's name, or counts the conflict. Durable too. */
  replay(probe: Probe, now: number): Promise<KnownDelivery | null>;
}

export interface Claim extends Probe {
  readonly artifactId: string;
  readonly shapeVersion: number;
  readonly delivery: DeliveryWay;
  readonly mediaType: string;
  readonly encoding: ContentEncoding;
  readonly bytes: number;
  readonly receivedAt: number;
  readonly place: ArtifactPlace;
  /** Of a webhook: the secret that verified it. */
  readonly secretId: string | null;
}

export type Verdict =
  | { readonly outcome: 'stored'; readonly receipt: StoredReceipt; readonly sequence: number }
  | { readonly outcome: 'replayed'; readonly known: KnownDelivery };

/**
 * The parse queue: `queued` → claimed under a lease (`parsing`) → `complete`, `release` or a lease
 * that runs out. A lease that was lost changes nothing any more.
 */
export interface Queue {
  /**
   * Takes deliveries that wait, or whose lease ran out, in accepted order: at most `limit`, and
   * no more than `bytesMax` of bodies unless the first alone is larger. Those that wait for a next
   * generation get a quarter of both at most, so that new ones never wait for them.
   */
  claim(want: { limit: number; bytesMax: number; leaseMs: number; now: number }): Promise<Job[]>;
  /** Puts the leases of those that are still being worked on further out. */
  extend(leases: readonly Lease[], until: number): Promise<void>;
  /**
   * Final states; rows and rejections are durable already. An outcome takes effect while its
   * lease is held and its generation is the one waited for. A generation above 0, and a first
   * parse accepted before a delivery that was parsed again, only within the turn in which its
   * samples were settled (`Reparses`).
   */
  complete(outcomes: readonly Outcome[], now: number): Promise<Completed>;
  /**
   * An infrastructure failure: back to `queued`, not before `notBefore`. Never counts. Leases that
   * were lost meanwhile are left as they are; the answer is that of `Completed`.
   */
  release(
    leases: readonly (Lease & { readonly generation: number })[],
    notBefore: number,
  ): Promise<Completed['outdated']>;
  /**
   * The parser crashed or overran its deadline on this delivery: counted. Back to `queued`, or,
   * the third time, `rejected` with `parser_crashed`: where rows of it may be there, by a next
   * generation that is this refusal.
   */
  crashed(lease: Lease, now: number): Promise<DeliveryStatus>;
  /**
   * How many wait or are being parsed, and when the oldest was received of those that have no
   * generation yet.
   */
  backlog(): Promise<{ deliveries: number; oldestReceivedAt: number | null }>;
}

export interface Lease {
  readonly artifactId: string;
  readonly token: string;
}

export interface Job extends Lease {
  /** As it stands: of the generation before, when it is parsed again. */
  readonly delivery: Delivery;
  /** The generation to be made. */
  readonly generation: number;
  /** There is nothing to parse: the generation is this refusal. */
  readonly refusal: Rejection | null;
  readonly shape: ShapeVersion;
  readonly company: Company;
  /**
   * Metrics in effect for this parse. Later declarations do not count for it, so that a rebuild
   * from the same basis gives the same samples.
   */
  readonly metrics: readonly Metric[];
  /** Names of the fields that the source's current version marks personal. */
  readonly personalNow: readonly string[];
  /** How often it was released or its lease ran out; for the growing wait. */
  readonly failures: number;
}

export interface Outcome extends Lease {
  readonly generation: number;
  /** The token of the turn in which its samples were settled; null: they were not. */
  readonly turn: string | null;
  readonly status: 'parsed' | 'rejected';
  readonly counts: Counts;
  readonly refusal: Rejection | null;
  readonly undeclaredFields: readonly string[];
  readonly parserVersion: number;
}

/** Artifact ids by what became of their outcomes; a lost lease is in none of the lists. */
export interface Completed {
  readonly took: readonly string[];
  /** To be settled, and completed again within that turn. */
  readonly unsettled: readonly string[];
  /** Lost first parses whose delivery has a later generation: their rows are to be settled away. */
  readonly outdated: readonly { readonly artifactId: string; readonly generation: number }[];
}

/** The catalog cannot be reached or is full: try again later. */
export class CatalogAway extends Error {
  override readonly name: string = 'CatalogAway';
  readonly code = 'catalog_away';
}

/** There was no room, and so nothing was written: what was asked has not been done, for sure. */
export class CatalogFull extends CatalogAway {
  override readonly name = 'CatalogFull';
}

/** What was asked cannot be: `code` says why in one word, `message` in one sentence. */
export class CatalogRefusal extends Error {
  override readonly name = 'CatalogRefusal';
  readonly code: string;
  readonly field: string | undefined;
  constructor(code: string, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
