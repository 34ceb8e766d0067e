import { sumDecimals } from '../../domain/decimals.ts';
import type { ReadAnswer, ReadSample, SourceClient } from './client.ts';
import type { Expected, Series } from './series.ts';

/**
 * Reads everything back through the API, a year at a time, and compares it number by number with
 * what the data file says.
 */
export async function compare(
  client: Pick<SourceClient, 'samples'>,
  series: Pick<Series, 'deliveries' | 'expected'>,
): Promise<{ differences: number; lines: string[] }> {
  const years = [...new Set(series.expected.map((one) => Number(one.period.slice(0, 4))))].sort();
  const read: ReadSample[] = [];
  const lines: string[] = [];
  for (const year of years) {
    const answer = await client.samples(`${year}-01-01`, `${year + 1}-01-01`);
    if (answer.truncated) throw new Error(`the year ${year} does not fit one answer`);
    read.push(...answer.samples);
    if (year === years.at(-1)) lines.push(newestLine(answer));
  }
  lines.push(...correctionLines(series, read));
  const differences = countDifferences(series.expected, read);
  const sums = [series.expected, read].map((all) => sumDecimals(all.map((one) => one.value)));
  lines.push(
    `read back: ${read.length} samples of ${years.length} years, sum ${sums[1]}; ` +
      `in the file: ${series.expected.length}, sum ${sums[0]}; ${differences} differ`,
  );
  return { differences, lines };
}

function newestLine({ samples, window }: ReadAnswer): string {
  const [first] = samples;
  const newest = first ? `${first.metric} ${first.period_start} = ${first.value}` : 'none';
  const { from, to } = window;
  return `window ${from} to ${to}: ${samples.length} samples, newest first: ${newest}`;
}

/** Shows that a corrected number took the place of the one before. */
function correctionLines(
  series: Pick<Series, 'deliveries' | 'expected'>,
  read: readonly ReadSample[],
): string[] {
  if (!series.deliveries.some((delivery) => delivery.corrects)) return [];
  const last = series.expected.at(-1)!;
  const found = read.find((sample) => identity(sample, sample.period_start) === key(last));
  return [`corrected: ${last.metric} ${last.period} is ${found?.value} now (sent: ${last.value})`];
}

function countDifferences(expected: readonly Expected[], read: readonly ReadSample[]): number {
  const values = new Map(
    read.map((sample) => [identity(sample, sample.period_start), sample.value]),
  );
  const wrong = expected.filter((one) => values.get(key(one)) !== one.value).length;
  return wrong + Math.abs(read.length - new Set(expected.map(key)).size);
}

function key(expected: Expected): string {
  return identity(expected, expected.period);
}

function identity(
  of: { readonly metric: string; readonly labels: Readonly<Record<string, string>> },
  period: string,
): string {
  return JSON.stringify([of.metric, period, of.labels]);
}
