/**
 * One parsed sample as a line of tab-separated text, the form in which workers hand samples to
 * ClickHouse (FORMAT TabSeparated). Column order is `sampleColumns`: what many rows of a delivery
 * have in common stands first.
 */
export const sampleColumns = [
  'source_id',
  'artifact_id',
  'sequence',
  'generation',
  'sandbox',
  'metric',
  'labels_json',
  'newest_first',
  'value',
  'record',
] as const;

/** The columns that are the same for every row of a delivery. */
export interface SampleRowBase {
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly artifactId: string;
  readonly sequence: number;
  readonly generation: number;
}

/**
 * @returns a function that gives the head of rows of one metric and labels. A row is: head, the
 *   day negated, a tab, the value, a tab, the record number, a newline
 */
export function sampleRowHead(base: SampleRowBase) {
  const { sourceId, artifactId, sequence, generation } = base;
  const same = `${sourceId}\t${artifactId}\t${sequence}\t${generation}\t${base.sandbox ? 1 : 0}`;
  return (metric: string, labelsJson: string) => `${same}\t${metric}\t${escapeTsv(labelsJson)}\t`;
}

/** @returns a function that gives one row, newline included. `day`: days since 1970-01-01. */
export function sampleRowEncoder(base: SampleRowBase) {
  const head = sampleRowHead(base);
  return (day: number, metric: string, labelsJson: string, value: string, record: number) =>
    `${head(metric, labelsJson)}${-day}\t${value}\t${record}\n`;
}

const special = /[\\\t\n\r\0\b\f]/g;
const escapes: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
};

/** Escapes text for ClickHouse's TabSeparated format. */
export function escapeTsv(text: string): string {
  return text.replace(special, (c) => escapes[c]!);
}

/** Undoes `escapeTsv`. */
export function unescapeTsv(text: string): string {
  return text.replace(/\\[\\tnr0bf]/g, (pair) => plain[pair]!);
}

const plain = Object.fromEntries(Object.entries(escapes).map(([c, pair]) => [pair, c]));
