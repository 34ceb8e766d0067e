import { setTimeout as sleep } from 'node:timers/promises';
import type { Deliveries } from '../catalog/deliveries-contract.ts';
import type { Delivery } from '../domain/nouns.ts';
import type {
  ComparedTable,
  DifferingMonth,
  DifferingSample,
  SampleDifferences,
} from '../samples/proof.ts';
import type { Difference } from './difference.ts';
import { patiently } from './patience.ts';
import type { ProofParts } from './rebuild.ts';

/** Differences that are named of one month, one kind, and in all; beyond, that there are more. */
const namedMax = { month: 1_000, all: 10_000 };

const looksMax = 10;
const lookAgainMs = 300;

/**
 * Compares what is in use with what was made of the artifacts, and names what differs.
 *
 * First parses go on meanwhile. A difference counts when every delivery it is about was complete
 * at one look and it is there unchanged at the next: the inserts of a complete delivery are over,
 * in both sets, so what is looked at after that is not merely late.
 *
 * @param broken artifact ids of what could not be made; what cites them is named by that already
 */
export async function compareSamples(
  parts: ProofParts,
  broken: ReadonlySet<string>,
): Promise<Difference[]> {
  const { differences } = parts.proof;
  const known = new Known(parts.catalog.deliveries, broken);
  const found: Difference[] = [];
  for (const month of await differingMonths(parts)) {
    if (found.length >= namedMax.all) {
      found.push({ ...ofMonth(month), what: `${nameOf(month)} differs` });
      continue;
    }
    const look = () => differences.samples(month, namedMax.month);
    const samples = await lasting(look, (one) => known.areComplete(artifactsOf(one)));
    found.push(...samples.map(sampleDifference));
    if (samples.length >= namedMax.month) {
      found.push({ ...ofMonth(month), what: `${nameOf(month)} differs in more than is listed` });
    }
  }
  found.push(...(await rejectionDifferences(differences, known)));
  found.push(...(await generationDifferences(differences, parts.catalog.deliveries, known)));
  return found;
}

async function differingMonths({ proof, onProgress }: ProofParts): Promise<DifferingMonth[]> {
  const tables: readonly ComparedTable[] = ['samples', 'versions'];
  const stretches = await patiently(() => proof.differences.stretches());
  const all = stretches.length * tables.length;
  const found: DifferingMonth[] = [];
  let done = 0;
  for (const stretch of stretches) {
    for (const table of tables) {
      onProgress({ kind: 'comparing', done, all });
      found.push(...(await patiently(() => proof.differences.months(table, stretch))));
      done += 1;
    }
  }
  onProgress({ kind: 'comparing', done, all });
  return found;
}

/** What is there at two looks one after the other, and was complete at the first. */
async function lasting<T>(
  look: () => Promise<T[]>,
  isComplete: (one: T) => Promise<boolean>,
): Promise<T[]> {
  let before = new Set<string>();
  let again: T[] = [];
  for (let looks = 0; looks < looksMax; looks++) {
    if (looks > 0) await sleep(lookAgainMs);
    const found = await patiently(look);
    const complete: T[] = [];
    for (const one of found) if (await isComplete(one)) complete.push(one);
    again = complete.filter((one) => before.has(JSON.stringify(one)));
    if (complete.length === again.length) return again;
    before = new Set(complete.map((one) => JSON.stringify(one)));
  }
  return again;
}

/** What the catalog says of the deliveries that differences are about. */
class Known {
  readonly #deliveries: Pick<Deliveries, 'byArtifact'>;
  readonly #broken: ReadonlySet<string>;

  constructor(deliveries: Pick<Deliveries, 'byArtifact'>, broken: ReadonlySet<string>) {
    this.#deliveries = deliveries;
    this.#broken = broken;
  }

  /** Whether what is said of these deliveries counts; nobody inserts for one that is not there. */
  async areComplete(artifactIds: readonly string[]): Promise<boolean> {
    for (const artifactId of artifactIds) {
      if (this.#broken.has(artifactId)) return false;
      const delivery = await this.delivery(artifactId);
      if (delivery && isWaiting(delivery)) return false;
    }
    return true;
  }

  delivery(artifactId: string): Promise<Delivery | null> {
    return patiently(() => this.#deliveries.byArtifact(artifactId));
  }
}

function isWaiting({ status }: Delivery): boolean {
  return status === 'queued' || status === 'parsing';
}

function artifactsOf({ stored, made }: DifferingSample): string[] {
  return [stored, made].flatMap((one) => (one === null ? [] : [one.artifactId]));
}

const ofMonth = ({ sourceId }: DifferingMonth) => ({ artifactId: null, sourceId });

function nameOf({ table, month }: DifferingMonth): string {
  const text = `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`;
  return table === 'samples' ? text : `the past of ${text}`;
}

function sampleDifference(sample: DifferingSample): Difference {
  const { table, sourceId, stored, made } = sample;
  const artifactId = (made ?? stored)!.artifactId;
  const kind = sample.sandbox ? ' (sandbox)' : '';
  const name = `${sample.metric} of ${sample.periodStart} ${sample.labelsJson}${kind}`;
  const whose = table === 'samples' ? name : `in the past of samples: ${name}`;
  return { artifactId, sourceId, what: `${whose} ${contentProblem(stored, made)}` };
}

function contentProblem(stored: DifferingSample['stored'], made: DifferingSample['made']): string {
  if (stored === null) return `is missing; record ${made!.record} gives ${made!.value}`;
  if (made === null) return `is ${stored.value}, which no record gives`;
  if (stored.value !== made.value) {
    return `is ${stored.value}; record ${made.record} gives ${made.value}`;
  }
  const [cited, right] = [stored, made].map((one) => `record ${one.record} of ${one.artifactId}`);
  if (cited !== right) return `cites ${cited}; ${right} gives it`;
  return 'has the place of another delivery';
}

async function rejectionDifferences(
  differences: SampleDifferences,
  known: Known,
): Promise<Difference[]> {
  const look = () => differences.rejections(namedMax.month);
  const lasted = await lasting(look, ({ artifactId }) => known.areComplete([artifactId]));
  const found: Difference[] = [];
  for (const { artifactId, stored, made } of lasted) {
    const delivery = await known.delivery(artifactId);
    const what =
      stored === made
        ? `its ${made} rejections are not those of its artifact`
        : `${stored} rejections of it are stored; its artifact gives ${made}`;
    found.push({ artifactId, sourceId: delivery?.sourceId ?? null, what });
  }
  return found;
}

async function generationDifferences(
  differences: SampleDifferences,
  deliveries: Pick<Deliveries, 'bases'>,
  known: Known,
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const one of await patiently(() => differences.generations(namedMax.month))) {
    const { sequence, sourceId, stored, made } = one;
    const [basis] = await patiently(() => deliveries.bases({ after: sequence - 1, limit: 1 }));
    const artifactId = basis?.delivery.sequence === sequence ? basis.delivery.artifactId : null;
    if (artifactId !== null && !(await known.areComplete([artifactId]))) continue;
    const what = `the samples are of generation ${stored}, the catalog says ${made}`;
    found.push({ artifactId, sourceId, what });
  }
  return found;
}
