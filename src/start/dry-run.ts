import { pino } from 'pino';
import type { Catalog } from '../catalog/catalog.ts';
import type { Delivery } from '../domain/nouns.ts';
import { personalNames } from '../domain/personal.ts';
import type { ParsedDelivery } from '../parse/messages.ts';
import { startParsePool } from '../parse/pool.ts';
import { inputOf } from '../parse/tasks.ts';
import type { SampleStore } from '../samples/samples.ts';
import {
  type Difference,
  GenerationDiff,
  lineCutter,
  parsedRows,
  rejectedRecords,
  storedRow,
} from './generation-diff.ts';
import type { Settings } from './settings.ts';
import { openCommandSamples } from './stores.ts';

export interface DryRun extends Difference {
  /** Records that would be rejected and are not now. */
  readonly failing: number;
  readonly parsed: ParsedDelivery;
}

const rejectionsPage = 10_000;

/**
 * Parses deliveries in threads of this process, as a next generation would be, and says how it
 * differs from what stands. Nothing is written.
 */
export async function dryRunner(settings: Settings, catalog: Catalog) {
  const samples = await openCommandSamples(settings, pino({ level: 'silent' }));
  const pool = startParsePool({ artifactsUrl: settings.artifactsUrl });
  return {
    async run(delivery: Delivery, shapeVersion: number): Promise<DryRun> {
      const input = inputOf(await jobOf(catalog, delivery, shapeVersion));
      const { outcomes } = await pool.run({ deliveries: [input] });
      const outcome = outcomes[0]!;
      if (outcome.kind !== 'done') throw new Error(outcome.reason);
      return await compare(samples.store, delivery, outcome);
    },
    async close() {
      await pool.close();
      await samples.close();
    },
  };
}

async function jobOf(catalog: Catalog, delivery: Delivery, shapeVersion: number) {
  const { sourceId } = delivery;
  const { directory, lookup } = catalog;
  const source = (await directory.source(sourceId))!;
  const shape = (await lookup.shape(sourceId, shapeVersion))!;
  const current = (await lookup.shape(sourceId, source.shapeVersion))!;
  return {
    artifactId: delivery.artifactId,
    ...{ delivery, generation: delivery.generation, shape },
    company: (await directory.company(source.companyId))!,
    metrics: await directory.metrics(source.companyId),
    personalNow: personalNames(current.fields),
  };
}

async function compare(
  store: SampleStore,
  delivery: Delivery,
  parsed: ParsedDelivery,
): Promise<DryRun> {
  const { sourceId, sequence, generation } = delivery;
  const diff = new GenerationDiff();
  const cut = lineCutter();
  if ((delivery.counts?.samples ?? 0) > 0) {
    for await (const chunk of store.generation({ sourceId, sequence, generation })) {
      for (const line of cut(chunk)) diff.before(storedRow(line));
    }
  }
  for (const row of parsedRows([Buffer.concat(parsed.sampleRows)])) diff.after(row);
  const failing =
    parsed.refusal === null
      ? await newlyRejected(store, delivery, parsed)
      : (delivery.counts?.parsed ?? 0);
  return { ...diff.difference(), failing, parsed };
}

async function newlyRejected(
  store: SampleStore,
  delivery: Delivery,
  parsed: ParsedDelivery,
): Promise<number> {
  const after = new Set(rejectedRecords([Buffer.concat(parsed.rejectionRows)]));
  const { artifactId, generation, counts } = delivery;
  if (!counts?.rejected) return after.size;
  for (let offset = 0; ; offset += rejectionsPage) {
    const page = { artifactId, generation, limit: rejectionsPage, offset };
    const found = await store.rejections(page);
    for (const { record } of found) after.delete(record!);
    if (found.length < rejectionsPage) return after.size;
  }
}
