import { randomBytes, randomFillSync } from 'node:crypto';
import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';
import { ingestRoute } from '../accept/ingest.ts';
import type { AcceptParts } from '../accept/keep.ts';
import { Segments } from '../accept/segments.ts';
import { webhookRoute } from '../accept/webhook.ts';
import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { limits } from '../domain/limits.ts';
import { formatSecret, openSecret, sealNonceBytes, sealSecret } from '../domain/secrets.ts';
import type { AdmissionParts } from '../http/admission.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { ClientAddress } from '../http/client-address.ts';
import type { ReferenceSite } from '../http/reference-site.ts';
import type { Route } from '../http/routes.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DoorPool } from '../parse/pool.ts';
import type { Rates } from '../rates/rates.ts';
import type { SampleStore } from '../samples/samples.ts';
import { deliveryRoute } from '../serve/deliveries.ts';
import { openapiRoute } from '../serve/openapi.ts';
import { samplesRoute } from '../serve/samples.ts';
import type { Clock } from '../std/clock.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { secretKey } from './secret-key.ts';
import type { Settings } from './settings.ts';
import type { UseRecorder } from './use-recorder.ts';

/** What both halves of the API are put together from. */
interface ApiParts {
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly rates: Rates;
  readonly site: ReferenceSite;
  readonly uses: UseRecorder;
  readonly clock: Clock;
}

export interface AcceptingParts extends ApiParts {
  readonly artifacts: ArtifactStore;
  readonly door: DoorPool;
  readonly log: Logger;
  onStored(): void;
  /** @throws ApiError 503 while no new delivery may be accepted */
  requireAccepting(): void;
  readonly metrics: Pick<Metrics, 'watch'>;
  readonly tracing: Pick<Tracing, 'keeper'>;
}

const demoRate = { perMinute: 10, burst: 5 };

/** The routes by which deliveries come. */
export function acceptRoutes(parts: AcceptingParts): Route[] {
  const { settings, catalog, rates, uses, clock, log } = parts;
  const keyed = limits.bodyBytesHeldMax - limits.unverifiedBytesHeldMax;
  const accept: AcceptParts = {
    ...{ catalog, artifacts: parts.artifacts, clock, log },
    segments: parts.tracing.keeper(new Segments({ artifacts: parts.artifacts, newArtifactId })),
    budget: new ByteBudget(keyed, limits.keyedBytesASecondMin),
    newArtifactId,
    readLargePush: parts.door.readPush,
    onStored: parts.onStored,
    requireAccepting: parts.requireAccepting,
  };
  const webhook = {
    ...{ ...accept, catalog: isDemo(settings) ? withoutWebhooks(catalog) : catalog },
    ...{ ...secretsOf(settings), rates, rate: rateOf(settings) },
    unverifiedBudget: new ByteBudget(
      limits.unverifiedBytesHeldMax,
      limits.unverifiedBytesASecondMin,
    ),
    noteSecretUse: uses.noteSecret,
  };
  parts.metrics.watch(
    'weir_held_bytes',
    () => accept.budget.bytesTaken + webhook.unverifiedBudget.bytesTaken,
  );
  return [ingestRoute(accept, admissionOf(parts)), webhookRoute(webhook)];
}

export interface ReadingParts extends ApiParts {
  readonly samples: SampleStore;
}

/** The routes by which samples and deliveries are read. */
export function readRoutes(parts: ReadingParts): Route[] {
  const { settings, catalog, samples } = parts;
  const admission = admissionOf(parts);
  return [
    samplesRoute({ admission, samples }),
    deliveryRoute({ admission, catalog, samples }),
    openapiRoute(settings.baseUrl),
  ];
}

function admissionOf({ settings, catalog, rates, site, uses, clock }: ApiParts): AdmissionParts {
  return {
    ...{ lookup: catalog.lookup, rates, keyRate: rateOf(settings), demoRate, site, clock },
    addresses: new ClientAddress(list(settings.WEIR_TRUSTED_PROXIES)),
    demo: isDemo(settings),
    noteUse: uses.noteKey,
  };
}

function rateOf(settings: Settings) {
  return { perMinute: settings.WEIR_RATE_PER_MINUTE, burst: settings.WEIR_RATE_BURST };
}

/** Whether this is a demo deployment (DECISIONS 9). */
export function isDemo(settings: Settings): boolean {
  return settings.WEIR_DEMO === '1';
}

const uuidRandomBytes = 16;
/** Random bytes for many ids: asking for a few at a time takes longer than making an id. */
const randomPool = Buffer.alloc(256 * uuidRandomBytes);
let randomUsed = randomPool.length;

/** A new uuid v7. */
export function newArtifactId(now: number): string {
  if (randomUsed === randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  const random = randomPool.subarray(randomUsed, randomUsed + uuidRandomBytes);
  randomUsed += uuidRandomBytes;
  return uuid({ msecs: now, random });
}

/** A demo deployment has no webhook source, whatever its catalog holds. */
function withoutWebhooks({ ledger, lookup }: Catalog): AcceptParts['catalog'] {
  return { ledger, lookup: { ...lookup, signedSource: async () => null } };
}

/** Opens signing secrets, and makes the one that unknown sources are checked against. */
function secretsOf(settings: Settings) {
  const key = secretKey(settings);
  const secretId = 'nobody';
  const secret = formatSecret(randomBytes(32));
  const sealed = sealSecret(key, randomBytes(sealNonceBytes), secretId, secret);
  return {
    dummySecret: { secretId, sealed },
    openSecret: (id: string, bytes: Buffer) => openSecret(key, id, bytes),
  };
}

/** The items of a comma list. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}
