import type { Metric } from '../domain/nouns.ts';
import { dayToText } from '../domain/periods.ts';
import type { PlacedSample, SampleExplorer, SampleFilter } from '../samples/explore-contract.ts';

/** Samples that are asked for at once: their text is made without holding up the event loop. */
const pageRows = 5_000;
/** Label sets whose cells are kept, so as to be written again. */
const cellsKeptMax = 20_000;

/**
 * All samples of a filter as CSV (RFC 4180), in the order of the API, page by page: each page shows
 * what is current when it is read.
 *
 * Its labels are those that the metrics with samples declare; what a metric does not have is empty.
 *
 * @param declared of the company
 */
export async function* samplesCsv(
  explorer: Pick<SampleExplorer, 'metrics' | 'page'>,
  filter: SampleFilter,
  declared: readonly Metric[],
): AsyncGenerator<Buffer> {
  const metrics = await metricsOf(explorer, filter);
  const chosen = declared.filter(({ key }) => metrics.includes(key));
  const names = [...new Set(chosen.flatMap(({ labels }) => labels))].sort();
  const sandbox = filter.sandbox ? ['sandbox'] : [];
  const header = ['metric', 'period_start', 'value', ...names, ...sandbox, 'artifact_id'];
  yield Buffer.from(`${header.map(csvCell).join(',')}\r\n`);
  // A metric whose first samples come meanwhile may have labels that the header lacks.
  const only = { ...filter, metrics };
  const rowText = rowWriter(names, filter.sandbox);
  let after: PlacedSample | undefined;
  do {
    const page = await explorer.page(only, { limit: pageRows, ...(after && { after }) });
    after = page.length < pageRows ? undefined : page.at(-1);
    if (page.length > 0) yield Buffer.from(page.map(rowText).join(''));
  } while (after !== undefined);
}

async function metricsOf(
  explorer: Pick<SampleExplorer, 'metrics'>,
  { sourceId, metrics }: SampleFilter,
): Promise<string[]> {
  const found = (await explorer.metrics(sourceId)).map(({ metric }) => metric);
  return metrics ? found.filter((metric) => metrics.includes(metric)) : found;
}

function rowWriter(names: readonly string[], withSandbox: boolean) {
  const kept = new Map<string, string>();
  const cellsOf = (labelsJson: string) => {
    const known = kept.get(labelsJson);
    if (known !== undefined) return known;
    const labels = JSON.parse(labelsJson) as Record<string, string>;
    const textOf = (name: string) => (Object.hasOwn(labels, name) ? labels[name]! : '');
    const cells = names.map((name) => `,${csvCell(textOf(name))}`).join('');
    if (kept.size >= cellsKeptMax) kept.clear();
    kept.set(labelsJson, cells);
    return cells;
  };
  return ({ metric, day, value, labelsJson, sandbox, artifactId }: PlacedSample) => {
    const mark = withSandbox ? `,${sandbox}` : '';
    const start = `${csvCell(metric)},${dayToText(day)},${csvCell(value)}`;
    return `${start}${cellsOf(labelsJson)}${mark},${artifactId}\r\n`;
  };
}

const decimal = /^-?[0-9]+(?:\.[0-9]+)?$/;

/**
 * A cell that no spreadsheet takes for a formula: what begins like one, full-width signs included,
 * gets an apostrophe, unless it is a plain decimal (OWASP, "CSV Injection").
 */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !decimal.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A plain file name of a source's name. */
export function csvName(source: string): string {
  const plain = source.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return `${plain.slice(0, 60) || 'samples'}.csv`;
}
