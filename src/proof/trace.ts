import { buffer } from 'node:stream/consumers';
import type { ArtifactStore } from '../artifacts/artifacts.ts';
import { type Catalog, CatalogRefusal } from '../catalog/catalog.ts';
import type { DeliveryBasis } from '../catalog/deliveries-contract.ts';
import type { Delivery, Grain } from '../domain/nouns.ts';
import { readPeriod } from '../domain/periods.ts';
import { zoneOf } from '../domain/timezone.ts';
import type { ParseInput } from '../parse/messages.ts';
import { inputOf } from '../parse/tasks.ts';
import type { FoundSample, SampleHistory, SampleVersion } from '../samples/proof.ts';
import { damageOf } from '../upkeep/stored-bytes.ts';
import { damageText } from './difference.ts';

export interface TraceParts {
  readonly catalog: Pick<Catalog, 'directory' | 'deliveries'>;
  readonly artifacts: Pick<ArtifactStore, 'read'>;
  readonly history: SampleHistory;
  /** Finds a record in a body as received; null when the body has no such record. */
  locate(input: ParseInput, received: Buffer, record: number): Promise<LocatedRecord | null>;
}

/** A record in its body. */
export interface LocatedRecord {
  /** From 1; null where the format has no lines. */
  readonly line: number | null;
  /** In the body, unpacked where it came packed; null where the format has no such place. */
  readonly bytes: { readonly from: number; readonly to: number } | null;
  /** Its fields by name, as text. */
  readonly fields: Readonly<Record<string, string | null>>;
}

export interface TraceQuery {
  readonly sourceId: string;
  readonly metric: string;
  /** A day, or the short form of a period: `2026-01`, `2026-Q1`, `2026-W05`, `2026`. */
  readonly period: string;
  /** As many as tell one sample from the others. */
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
}

/** The chain from a number back to its bytes. */
export interface Trace {
  readonly sample: FoundSample;
  readonly basis: DeliveryBasis;
  readonly idempotencyKeys: readonly string[];
  readonly record: LocatedRecord;
  /** What the sample was before, by other deliveries and records; newest first. */
  readonly superseded: readonly { readonly version: SampleVersion; readonly delivery: Delivery }[];
}

const versionsMax = 1_000;
const grains: readonly Grain[] = ['day', 'week', 'month', 'quarter', 'year'];

/**
 * Leads a sample back to the record that gave it.
 *
 * @throws CatalogRefusal `source_not_found`, `period_invalid`, `sample_not_found`,
 *   `sample_ambiguous`; Error when the artifact does not give it: the data are damaged
 */
export async function trace(parts: TraceParts, query: TraceQuery): Promise<Trace> {
  const { catalog, history } = parts;
  const sample = await sampleOf(parts, query);
  const basis = await basisOf(catalog, sample.artifactId);
  const { artifactId } = basis.delivery;
  return {
    ...{ sample, basis },
    idempotencyKeys: await catalog.deliveries.idempotencyKeys(artifactId),
    record: await recordOf(parts, basis, sample.record),
    superseded: await supersededBy(catalog, sample, await history.versions(sample, versionsMax)),
  };
}

async function sampleOf({ catalog, history }: TraceParts, query: TraceQuery): Promise<FoundSample> {
  const source = await catalog.directory.source(query.sourceId);
  if (!source) throw new CatalogRefusal('source_not_found', 'There is no such source.');
  const company = (await catalog.directory.company(source.companyId))!;
  const day = grains
    .map((grain) => readPeriod(query.period, grain, zoneOf(company.timezone)))
    .find((read) => typeof read === 'number');
  if (day === undefined) {
    throw new CatalogRefusal('period_invalid', 'A period is a day, or 2026-01, 2026-Q1, 2026.');
  }
  const [sample, other] = await history.find({ ...query, day }, 2);
  if (!sample) throw new CatalogRefusal('sample_not_found', 'There is no such sample.');
  if (other) {
    const message = `Several samples have that: ${sample.labelsJson}, ${other.labelsJson}`;
    throw new CatalogRefusal('sample_ambiguous', `${message}. Name their labels.`);
  }
  return sample;
}

async function basisOf(
  { deliveries }: Pick<Catalog, 'deliveries'>,
  artifactId: string,
): Promise<DeliveryBasis> {
  const delivery = await deliveries.byArtifact(artifactId);
  if (!delivery) throw new Error(`the sample cites ${artifactId}, which the catalog does not know`);
  const [basis] = await deliveries.bases({ after: delivery.sequence - 1, limit: 1 });
  return basis!;
}

async function recordOf(
  { artifacts, locate }: TraceParts,
  basis: DeliveryBasis,
  record: number,
): Promise<LocatedRecord> {
  const { delivery, company, personalNow, standing } = basis;
  const { artifactId } = delivery;
  const damage = await damageOf(artifacts, delivery);
  if (damage !== null) throw new Error(`${artifactId}: ${damageText[damage]}`);
  const parse = standing ?? basis.underWay;
  if (parse === null) throw new Error(`${artifactId} waits to be parsed again: ask once more`);
  const input = inputOf({ artifactId, delivery, company, personalNow, ...parse });
  const received = await buffer(await artifacts.read(delivery.place));
  const found = await locate(input, received, record);
  if (found === null) throw new Error(`${artifactId} has no record ${record}: run weir verify`);
  return found;
}

/** Of the generations that stand: what a re-parse took back was never superseded. */
async function supersededBy(
  { deliveries }: Pick<Catalog, 'deliveries'>,
  sample: FoundSample,
  versions: readonly SampleVersion[],
): Promise<Trace['superseded']> {
  const known = new Map<string, Delivery | null>();
  const found: { version: SampleVersion; delivery: Delivery }[] = [];
  for (const version of versions) {
    const { artifactId, record, generation } = version;
    if (!known.has(artifactId)) known.set(artifactId, await deliveries.byArtifact(artifactId));
    const delivery = known.get(artifactId);
    const isSample = artifactId === sample.artifactId && record === sample.record;
    if (isSample || !delivery?.counts || delivery.generation !== generation) continue;
    found.push({ version, delivery });
  }
  return found;
}
