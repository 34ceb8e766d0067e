/**
 * One parsed sample as a line of tab-separated text, the form in which workers hand samples to
 * ClickHouse (FORMAT TabSeparated). Column order is `sampleColumns`.
 */
export const sampleColumns = [
  'source_id',
  'newest_first',
  'metric',
  'labels_json',
  'sandbox',
  'value',
  'artifact_id',
  'sequence',
  'generation',
  'record',
] as const;

/** The columns that are the same for every row of a delivery, ready to be joined with tabs. */
export interface SampleRowBase {
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly artifactId: string;
  readonly sequence: number;
  readonly generation: number;
}

/**
 * The parts that rows of one delivery have in common. A row is: `head`, the day negated,
 * `middle`, the value, `tail`, the record number, a newline.
 */
export interface SampleRowParts {
  readonly head: string;
  readonly middle: (metric: string, labelsJson: string) => string;
  readonly tail: string;
}

export function sampleRowParts(base: SampleRowBase): SampleRowParts {
  const sandbox = base.sandbox ? '1' : '0';
  return {
    head: `${base.sourceId}\t`,
    middle: (metric, labelsJson) => `\t${metric}\t${escapeTsv(labelsJson)}\t${sandbox}\t`,
    tail: `\t${base.artifactId}\t${base.sequence}\t${base.generation}\t`,
  };
}

/** @returns a function that gives one row, newline included. `day`: days since 1970-01-01. */
export function sampleRowEncoder(base: SampleRowBase) {
  const { head, middle, tail } = sampleRowParts(base);
  return (day: number, metric: string, labelsJson: string, value: string, record: number) =>
    `${head}${-day}${middle(metric, labelsJson)}${value}${tail}${record}\n`;
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
