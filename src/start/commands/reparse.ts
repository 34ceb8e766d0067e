import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type Catalog, CatalogRefusal } from '../../catalog/catalog.ts';
import type { SettledFilter } from '../../catalog/deliveries-contract.ts';
import type { Counts, Delivery, Rejection } from '../../domain/nouns.ts';
import { versionAgain } from '../../domain/personal.ts';
import { answering, id, type Place, WrongUsage } from '../command.ts';
import { generationsOf, untilParsed } from '../reparsing.ts';

interface Options {
  readonly rejected?: string;
  readonly source?: string;
  readonly status?: 'parsed' | 'rejected';
  readonly ofVersion?: number;
  readonly receivedFrom?: number;
  readonly receivedBefore?: number;
  readonly shapeVersion?: number;
  readonly dryRun?: true;
}

/** Deliveries that are begun in one transaction. */
const beginPage = 1_000;
const busyMs = 100;

export function reparseCommand(): Command {
  const command = new Command('reparse')
    .description('parse a delivery again, or several of one source')
    .argument('[artifact]', 'the artifact id', id)
    .option('--rejected <source>', 'all rejected ones of the source', id)
    .option('--source <source>', 'all of the source, or those that the next options leave', id)
    .addOption(new Option('--status <status>', 'only these').choices(['parsed', 'rejected']))
    .option('--of-version <n>', 'only those that stand under this shape version', version)
    .option('--received-from <time>', 'only those received at this time (RFC 3339) or later', time)
    .option('--received-before <time>', 'only those received before this time', time)
    .option(
      '--shape-version <n>',
      'under this version; by default a single one under its own, others under the current one',
      version,
    )
    .option('--dry-run', 'only say what would change');
  return answering(command, (place, artifactId: string | undefined, options: Options) => {
    const named = [artifactId, options.rejected, options.source];
    if (named.filter((name) => name !== undefined).length !== 1) {
      throw new WrongUsage('name an artifact id, or a source with --rejected or --source');
    }
    const filter = filterOf(options);
    if (options.source !== undefined) return reparseMany(place, options.source, filter, options);
    if (Object.keys(filter).length > 0) throw new WrongUsage('filters go with --source');
    if (artifactId !== undefined) return reparseOne(place, artifactId, options);
    return reparseMany(place, options.rejected!, { status: 'rejected' }, options);
  });
}

function filterOf({ status, ofVersion, receivedFrom, receivedBefore }: Options): SettledFilter {
  return {
    ...(status === undefined ? {} : { status }),
    ...(ofVersion === undefined ? {} : { shapeVersion: ofVersion }),
    ...(receivedFrom === undefined ? {} : { receivedFrom }),
    ...(receivedBefore === undefined ? {} : { receivedBefore }),
  };
}

/** A day, or a date-time with its offset. */
function time(text: string): number {
  const parsed = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('a date, or a date-time with its offset');
  return Date.parse(parsed.data);
}

function version(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('a number from 1');
  return Number(text);
}

/** Answers when the new generation is readable. */
async function reparseOne(place: Place, artifactId: string, options: Options) {
  const { catalog } = place;
  const shapeVersion =
    options.shapeVersion ?? (await versionFor(catalog, await deliveryOf(catalog, artifactId)));
  await needVersion(catalog, (await deliveryOf(catalog, artifactId)).sourceId, shapeVersion);
  if (options.dryRun) return dryRun(place, [await deliveryOf(catalog, artifactId)], shapeVersion);
  for (;;) {
    const before = await deliveryOf(catalog, artifactId);
    const begun = await catalog.reparses.begin(
      { artifactIds: [artifactId], shapeVersion },
      Date.now(),
    );
    if (begun.length === 0) {
      // It is being parsed right now: the next generation comes after that.
      await untilParsed(place, settledOnce(catalog, artifactId));
      await sleep(busyMs);
      continue;
    }
    await untilParsed(place, generationsOf(catalog, begun));
    const after = await deliveryOf(catalog, artifactId);
    return { artifact_id: artifactId, before: stateOf(before), after: stateOf(after) };
  }
}

/** For a delivery that waits for what it was claimed for, whatever that is. */
function settledOnce(catalog: Catalog, artifactId: string) {
  const waits = async () => {
    const { status } = await deliveryOf(catalog, artifactId);
    return status === 'queued' || status === 'parsing';
  };
  return {
    remaining: async () => ((await waits()) ? 1 : 0),
    taken: async () => (await deliveryOf(catalog, artifactId)).status !== 'queued',
  };
}

async function reparseMany(
  place: Place,
  sourceId: string,
  filter: SettledFilter,
  options: Options,
) {
  const { catalog } = place;
  const source = await catalog.directory.source(sourceId);
  if (!source) throw new CatalogRefusal('source_not_found', `there is no source ${sourceId}`);
  const shapeVersion = options.shapeVersion ?? source.shapeVersion;
  await needVersion(catalog, sourceId, shapeVersion);
  const meant = await allOf(catalog, sourceId, filter);
  if (options.dryRun) {
    const found = await Promise.all(meant.map((one) => deliveryOf(catalog, one)));
    return dryRun(place, found, shapeVersion);
  }
  const begun: { artifactId: string; generation: number }[] = [];
  const before = sums();
  for (let from = 0; from < meant.length; from += beginPage) {
    const artifactIds = meant.slice(from, from + beginPage);
    const was = new Map<string, Delivery>();
    for (const one of artifactIds) was.set(one, await deliveryOf(catalog, one));
    const now = await catalog.reparses.begin({ artifactIds, shapeVersion }, Date.now());
    for (const { artifactId } of now) before.add(was.get(artifactId)!);
    begun.push(...now);
  }
  if (begun.length > 0) await untilParsed(place, generationsOf(catalog, begun));
  const after = sums();
  for (const { artifactId } of begun) after.add(await deliveryOf(catalog, artifactId));
  const answer = { source_id: sourceId, shape_version: shapeVersion, deliveries: begun.length };
  return { ...answer, before: before.total, after: after.total };
}

async function allOf(catalog: Catalog, sourceId: string, filter: SettledFilter): Promise<string[]> {
  const found: string[] = [];
  for (let after = 0; ; ) {
    const next = { limit: beginPage, after };
    const page = await catalog.deliveries.settled(sourceId, filter, next);
    found.push(...page.map((one) => one.artifactId));
    const last = page.at(-1);
    if (!last) return found;
    after = last.sequence;
  }
}

async function versionFor(catalog: Catalog, delivery: Delivery): Promise<number> {
  const { sourceId, shapeVersion } = delivery;
  const source = await catalog.directory.source(sourceId);
  const own = await catalog.lookup.shape(sourceId, shapeVersion);
  const current = await catalog.lookup.shape(sourceId, source!.shapeVersion);
  return versionAgain(own!, current!);
}

async function needVersion(catalog: Catalog, sourceId: string, version: number): Promise<void> {
  if (await catalog.lookup.shape(sourceId, version)) return;
  throw new CatalogRefusal('shape_version_not_found', `there is no shape version ${version}`);
}

async function deliveryOf(catalog: Catalog, artifactId: string): Promise<Delivery> {
  const delivery = await catalog.deliveries.byArtifact(artifactId);
  if (delivery) return delivery;
  throw new CatalogRefusal('delivery_not_found', `there is no delivery ${artifactId}`);
}

async function dryRun(place: Place, deliveries: readonly Delivery[], shapeVersion: number) {
  const { dryRunner } = await import('../dry-run.ts');
  const runner = await dryRunner(place.settings, place.catalog);
  const records = { changed: 0, failing: 0, appearing: 0 };
  const vanishing = { vanishing: 0 };
  const [before, after] = [sums(), sums()];
  let refusal: string | null = null;
  try {
    for (const delivery of deliveries) {
      const would = await runner.run(delivery, shapeVersion);
      records.changed += would.changed;
      records.failing += would.failing;
      records.appearing += would.appearing;
      vanishing.vanishing += would.vanishing;
      refusal = would.parsed.refusal?.code ?? null;
      before.add(delivery);
      after.add({ ...delivery, ...would.parsed });
    }
  } finally {
    await runner.close();
  }
  const [only] = deliveries.length === 1 ? deliveries : [];
  return {
    ...(only ? { artifact_id: only.artifactId, refusal } : { deliveries: deliveries.length }),
    ...{ dry_run: true, shape_version: shapeVersion },
    ...{ records, samples: vanishing, before: before.total, after: after.total },
  };
}

function countsView(counts: Counts | null) {
  return {
    records: counts?.records ?? 0,
    parsed: counts?.parsed ?? 0,
    rejected: counts?.rejected ?? 0,
    samples: counts?.samples ?? 0,
    blank: counts?.blank ?? 0,
    superseded_within: counts?.supersededWithin ?? 0,
  };
}

function stateOf({ status, shapeVersion, counts, refusal }: Delivery) {
  const view = { status, shape_version: shapeVersion, counts: countsView(counts) };
  return { ...view, ...(refusal === null ? {} : { refusal: refusal.code }) };
}

/** Counts of several deliveries together, and how many of them were parsed and rejected. */
function sums() {
  const total = { deliveries_parsed: 0, deliveries_rejected: 0, counts: countsView(null) };
  return {
    total,
    add(one: {
      readonly status: Delivery['status'];
      readonly counts: Counts | null;
      readonly refusal: Rejection | null;
    }) {
      if (one.status === 'parsed') total.deliveries_parsed += 1;
      else total.deliveries_rejected += 1;
      const counts = countsView(one.counts);
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
        total.counts[name] += counts[name];
      }
    },
  };
}
