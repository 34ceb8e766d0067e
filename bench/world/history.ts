import { dayToText } from '../../src/domain/periods.ts';
import type { Sample } from '../../test/support/sender.ts';
import type { BenchEngine } from './engine.ts';

/** Samples of one source: so many series, one sample a day each, up to today. */
export interface History {
  readonly sourceId: string;
  readonly series: number;
  readonly days: number;
  /** With all its corrections. */
  readonly corrected?: boolean;
}

export const windowDays = 731;
const artifactId = '01900000-0000-7000-8000-000000000001';
const metrics = ['revenue', 'visits'] as const;

/** The day that the histories end with, since 1970. */
export function today(): number {
  return Math.floor(Date.now() / 86_400_000);
}

/** Of each hundred samples, so many are corrected, each of them by a part of its own. */
export const correctingParts = 4;

/**
 * Puts a history into a table with the columns of `samples`, made by ClickHouse itself.
 *
 * @param parts into so many parts, each with samples of all days
 */
export async function insertHistory(
  engine: BenchEngine,
  table: string,
  history: History,
  parts = 1,
): Promise<void> {
  for (let part = 0; part < parts; part++) {
    await insertRows(engine, table, history, `sipHash64(number) % ${parts} = ${part}`, 1, '.25');
  }
}

/** Corrects every hundredth sample, and by the next parts the ones behind it, of all days. */
export async function insertCorrections(
  engine: BenchEngine,
  table: string,
  history: History,
  part: number,
): Promise<void> {
  await insertRows(engine, table, history, `number % 100 = ${part}`, 2, '.75');
}

async function insertRows(
  engine: BenchEngine,
  table: string,
  { sourceId, series, days }: History,
  which: string,
  sequence: number,
  fraction: string,
): Promise<void> {
  await engine.command(`
    INSERT INTO ${table} (source_id, newest_first, metric, labels_json, sandbox, value,
      artifact_id, sequence, generation, record)
    SELECT toUUID('${sourceId}'), toInt32(intDiv(number, ${series}) - ${today()}) AS at,
      if(number % 2 = 0, '${metrics[0]}', '${metrics[1]}'),
      concat('{"device":"device-', leftPad(toString(intDiv(number % ${series}, 2) % 16), 2, '0'),
        '","place":"place-', leftPad(toString(intDiv(number % ${series}, 32)), 4, '0'), '"}'),
      false, concat(toString((number * 7919) % 1000000), '${fraction}'),
      toUUID('${artifactId}'), ${sequence}, 0, toUInt32(number + 1)
    FROM numbers(${series * days})
    WHERE ${which}
    SETTINGS max_threads = 1, max_insert_threads = 1, max_execution_time = 140`);
}

/** What a read of a whole window answers, made without ClickHouse: the newest of a history. */
export function newestSamples(
  { series, days, corrected = false }: History,
  limit: number,
): Sample[] {
  const samples: Sample[] = [];
  for (let n = 0; n < series * Math.min(days, Math.ceil(limit / series) + 1); n++) {
    const labels = {
      device: `device-${String(Math.floor((n % series) / 2) % 16).padStart(2, '0')}`,
      place: `place-${String(Math.floor((n % series) / 32)).padStart(4, '0')}`,
    };
    const fraction = corrected && n % 100 < correctingParts ? '75' : '25';
    samples.push({
      ...{ metric: metrics[n % 2]!, period_start: dayToText(today() - Math.floor(n / series)) },
      ...{
        value: `${(n * 7_919) % 1_000_000}.${fraction}`,
        labels,
        sandbox: false,
        artifact_id: artifactId,
      },
    });
  }
  const sortKey = (sample: Sample) => `${sample.metric} ${JSON.stringify(sample.labels)}`;
  const before = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  samples.sort((a, b) => before(b.period_start, a.period_start) || before(sortKey(a), sortKey(b)));
  return samples.slice(0, limit);
}
