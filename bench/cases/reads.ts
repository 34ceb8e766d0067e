import { isDeepStrictEqual } from 'node:util';
import { dayToText } from '../../src/domain/periods.ts';
import { ask } from '../../test/support/ask.ts';
import type { Size } from '../case.ts';
import { type Loader, sharedLoader } from '../load/loader.ts';
import type { Address } from '../load/messages.ts';
import { median, quantile } from '../statistics.ts';
import { BenchEngine } from '../world/engine.ts';
import {
  correctingParts,
  type History,
  insertCorrections,
  insertHistory,
  newestSamples,
  today,
  windowDays,
} from '../world/history.ts';
import { type BenchSource, type BenchWeir, sharedWeir } from '../world/weir.ts';
import type { World } from '../world/world.ts';

/** What the cases of reads have in common: a weir with samples, and the ways to read them. */

export const samplesPerAnswer = 5_000;

/** Series of a source; 300 of them make 219,300 samples in the 731 days of a window. */
const series: Readonly<Record<Size, number>> = { full: 300, quick: 300, tiny: 20 };
/** Of the sources whose histories are compared, the longer of which has ten times as many days. */
const grownSeries: Readonly<Record<Size, number>> = { full: 300, quick: 60, tiny: 20 };
/** Further sources in the same table, each as large as the one that is read. */
const others: Readonly<Record<Size, number>> = { full: 20, quick: 0, tiny: 0 };
const readsAtOnce: Readonly<Record<Size, number>> = { full: 60, quick: 20, tiny: 3 };

export interface ReadSource extends BenchSource, History {}

export interface ReadPlace {
  readonly weir: BenchWeir;
  readonly engine: BenchEngine;
  readonly loader: Loader;
  /** Its window holds the samples of all series, merged into one part. */
  readonly usual: ReadSource;
  /** As many, a part of them corrected by four inserts that are not merged yet. */
  readonly corrected: ReadSource;
  /** Histories of 731 and of 7,310 days, merged. */
  readonly short: ReadSource;
  readonly long: ReadSource;
  /** The same samples in one part, and in twelve that are not merged. */
  readonly onePart: ReadSource;
  readonly twelveParts: ReadSource;
}

/** The weir of all cases of reads, its samples made by its own engine. */
export function readPlace(world: World): Promise<ReadPlace> {
  return world.once('read place', async () => {
    const weir = await sharedWeir(world, 'reads');
    const engine = new BenchEngine(weir);
    const { size } = world;
    const source = async (seriesCount: number, days = windowDays): Promise<ReadSource> => ({
      ...(await weir.source('document')),
      ...{ series: seriesCount, days },
    });
    const usual = await source(series[size]);
    const short = await source(grownSeries[size]);
    const long = await source(grownSeries[size], 10 * windowDays);
    const corrected = { ...(await source(series[size])), corrected: true };
    for (const one of [usual, corrected, short, long]) await insertHistory(engine, 'samples', one);
    for (let i = 0; i < others[size]; i++) {
      await insertHistory(engine, 'samples', await source(series[size]));
    }
    await engine.command('OPTIMIZE TABLE samples FINAL');
    await engine.command('SYSTEM STOP MERGES samples');
    const onePart = await source(series[size]);
    const twelveParts = await source(series[size]);
    await insertHistory(engine, 'samples', onePart);
    await insertHistory(engine, 'samples', twelveParts, 12);
    for (let part = 0; part < correctingParts; part++) {
      await insertCorrections(engine, 'samples', corrected, part);
    }
    await requireParts(engine, 1 + 1 + 12 + correctingParts);
    const loader = await sharedLoader(world);
    const value = { weir, engine, loader, usual, corrected, short, long, onePart, twelveParts };
    return { value, stop: () => engine.close() };
  });
}

async function requireParts(engine: BenchEngine, expected: number): Promise<void> {
  const [found] = await engine.rows<{ n: string }>(
    `SELECT count() AS n FROM system.parts
     WHERE database = currentDatabase() AND table = 'samples' AND active`,
  );
  if (Number(found!.n) !== expected) throw new Error(`${found!.n} parts instead of ${expected}`);
}

let windows = 0;

/**
 * Reads whose answers are the same newest samples, but of windows that were never asked for
 * before: no answer that was kept serves them.
 */
export function freshWindows(count: number): { from: string; to: string }[] {
  const to = today() + 1;
  return Array.from({ length: count }, () => {
    // The last day of the window is fixed; its first one is among those of 600 days.
    const from = to - windowDays + (windows % 600);
    const end = to + Math.floor(windows / 600);
    windows += 1;
    return { from: dayToText(from), to: dayToText(end) };
  });
}

export interface WindowText {
  readonly from: string;
  readonly to: string;
}

/** The request of one read through weir. */
export function readRequest(weir: BenchWeir, key: string, { from, to }: WindowText, more = '') {
  return [
    `GET /v1/samples?from=${from}&to=${to} HTTP/1.1\r\n`,
    `host: 127.0.0.1:${weir.port}\r\nauthorization: Bearer ${key}\r\n${more}\r\n`,
  ].join('');
}

/** How many reads one measurement has. */
export function readCount(world: World): number {
  return readsAtOnce[world.size];
}

/** The latency in ms below which a share of such requests stays, sent one after the other. */
export async function latency(
  loader: Loader,
  address: Address,
  requests: readonly string[],
  { share = 0.5, status = 200 }: { share?: number; status?: number } = {},
): Promise<number> {
  const { latenciesMs } = await loader.run({ kind: 'requests', address, requests, status });
  return share === 0.5 ? median(latenciesMs) : quantile(latenciesMs, share);
}

/** p50 of reads of one source, each of a window that was not read before. */
export async function freshReads(world: World, place: ReadPlace, source: ReadSource) {
  const { weir, loader } = place;
  const requests = freshWindows(readCount(world)).map((window) =>
    readRequest(weir, source.key, window),
  );
  return latency(loader, { port: weir.port }, requests);
}

/** @throws Error when a read does not answer exactly the newest samples that were put there */
export async function requireRead(weir: BenchWeir, source: ReadSource): Promise<void> {
  const [{ from, to } = { from: '', to: '' }] = freshWindows(1);
  const url = `${weir.test.url}/v1/samples?from=${from}&to=${to}`;
  const answer = await ask(url, { headers: { Authorization: `Bearer ${source.key}` } });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const { samples, truncated } = JSON.parse(answer.text) as {
    samples: unknown[];
    truncated: boolean;
  };
  const expected = newestSamples(source, samplesPerAnswer);
  if (!truncated || !isDeepStrictEqual(samples, expected)) {
    throw new Error(`a read answers ${samples.length} samples, not the newest ones`);
  }
}
