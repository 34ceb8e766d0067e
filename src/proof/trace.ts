import { type Catalog, CatalogRefusal } from '../catalog/catalog.ts';
import type { DeliveryBasis } from '../catalog/deliveries-contract.ts';
import type { Delivery, Grain } from '../domain/nouns.ts';
import { readPeriod } from '../domain/periods.ts';
import { zoneOf } from '../domain/timezone.ts';
import type { LocatedRecord, LocateTask } from '../parse/messages.ts';
import type { FoundSample, SampleHistory, SampleVersion } from '../samples/proof.ts';
import { basisOf, type RecordParts, readRecords } from './records.ts';

export interface TraceParts extends RecordParts {
  readonly catalog: Pick<Catalog, 'directory' | 'deliveries'>;
  readonly history: SampleHistory;
}

export interface TraceQuery {
  readonly sourceId: string;
  readonly metric: string;
  /** A day, or the short form of a period: `2026-01`, `2026-Q1`, `2026-W05`, `2026`. */
  readonly period: string;
  /** As many as tell one sample from the others. */
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
  /** How much of its record is given; absent: all. */
  readonly shownMax?: LocateTask['shownMax'];
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
 *   `sample_ambiguous`, and those of `readRecords`; Error when the body does not give it: the data
 *   are damaged
 */
export async function trace(parts: TraceParts, query: TraceQuery): Promise<Trace> {
  const { catalog, history } = parts;
  const sample = await sampleOf(parts, query);
  const basis = await basisOf(catalog, sample.artifactId);
  const { artifactId } = basis.delivery;
  return {
    ...{ sample, basis },
    idempotencyKeys: await catalog.deliveries.idempotencyKeys(artifactId),
    record: await recordOf(parts, basis, sample.record, query.shownMax),
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

async function recordOf(
  parts: TraceParts,
  basis: DeliveryBasis,
  record: number,
  shownMax: LocateTask['shownMax'],
): Promise<LocatedRecord> {
  const [found] = await readRecords(parts, basis, [record], shownMax);
  if (found) return found;
  throw new Error(`${basis.delivery.artifactId} has no record ${record}: run weir verify`);
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
