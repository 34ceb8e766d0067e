import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeRejectionRow } from '../../src/domain/rejection-row.ts';
import { sampleRowEncoder } from '../../src/domain/sample-row.ts';
import type { Engine, SupervisorOptions } from '../../src/samples/engine/supervisor.ts';
import { startEngine } from '../../src/samples/engine/supervisor.ts';
import type { EncodedRows, SampleStore, WindowQuery } from '../../src/samples/samples.ts';

/** A sample as a delivery brings it; `day` is days since 1970. */
export interface GivenSample {
  readonly day: number;
  readonly metric?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: string;
  readonly record?: number;
}

export interface GivenDelivery {
  readonly sourceId: string;
  readonly sequence: number;
  readonly sandbox?: boolean;
  readonly generation?: number;
  readonly artifactId?: string;
  readonly samples: readonly GivenSample[];
}

/** A sample as the window read answers it (specification, "Sample"). */
export interface ReadSample {
  readonly metric: string;
  readonly period_start: string;
  readonly value: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
  readonly artifact_id: string;
}

/** Days since 1970 of a date as text. */
export const dayOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

/** Wider than any period that a sample can have. */
export const everyDay = { fromDay: dayOf('1900-01-01'), toDay: dayOf('2299-12-31') + 1 };

/** Labels in their canonical form: names sorted, no spaces. */
export const canonical = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))));

export function encode(delivery: GivenDelivery): Buffer {
  const row = sampleRowEncoder({
    sourceId: delivery.sourceId,
    sandbox: delivery.sandbox ?? false,
    artifactId: delivery.artifactId ?? randomUUID(),
    sequence: delivery.sequence,
    generation: delivery.generation ?? 0,
  });
  const lines = delivery.samples.map((sample, i) =>
    row(
      sample.day,
      sample.metric ?? 'revenue',
      canonical(sample.labels ?? {}),
      sample.value,
      sample.record ?? i + 1,
    ),
  );
  return Buffer.from(lines.join(''));
}

export const samplesOnly = (...blocks: Buffer[]): EncodedRows => ({
  samples: blocks,
  rejections: [],
});

export function encodeRejections(
  artifactId: string,
  generation: number,
  rejections: readonly Parameters<typeof encodeRejectionRow>[1][],
): EncodedRows {
  const seen = new Map<number, number>();
  const lines = rejections.map((rejection) => {
    const ordinal = seen.get(rejection.record) ?? 0;
    seen.set(rejection.record, ordinal + 1);
    return encodeRejectionRow({ artifactId, generation }, rejection, ordinal);
  });
  return { samples: [], rejections: [Buffer.from(lines.join(''))] };
}

/** Reads a window that is everything unless told otherwise, as objects. */
export async function read(
  store: SampleStore,
  query: Partial<WindowQuery> & { sourceId: string },
): Promise<ReadSample[]> {
  const answer = await store.window({ ...everyDay, limit: 5_000, ...query });
  const samples = JSON.parse(answer.json.toString()) as ReadSample[];
  if (samples.length !== answer.count) throw new Error('count differs from the array');
  return samples;
}

export const quiet = { info: () => {}, warn: () => {} };

/** An engine on a fresh directory; `remove` stops it and takes the directory away. */
export async function freshEngine(options: Partial<SupervisorOptions> = {}): Promise<{
  engine: Engine;
  dataDir: string;
  remove(): Promise<void>;
}> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'weir-engine-'));
  const engine = await startEngine({ log: quiet, ...options, dataDir });
  const remove = async () => {
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { engine, dataDir, remove };
}

/** Waits until it holds. @throws Error after `withinMs` */
export async function until(what: string, withinMs: number, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
