import type { Field, Metric } from '../../src/domain/nouns.ts';
import { dayToText } from '../../src/domain/periods.ts';
import { rejectionColumns } from '../../src/domain/rejection-row.ts';
import { sampleColumns } from '../../src/domain/sample-row.ts';
import type { ParsedDelivery, ParseInput } from '../../src/parse/messages.ts';
import { parseDelivery } from '../../workers/delivery.ts';

export const someMetrics: Metric[] = [
  { key: 'revenue', name: 'Revenue', unit: 'EUR', labels: ['shop'] },
  { key: 'orders', name: 'Orders', unit: 'orders', labels: [] },
];

export const someFields: Field[] = [
  { name: 'day', role: 'period' },
  { name: 'shop', role: 'label' },
  { name: 'revenue', role: 'value', metric: 'revenue' },
  { name: 'orders', role: 'value', metric: 'orders', required: false },
];

export function someInput(change: Partial<ParseInput> = {}): ParseInput {
  return {
    artifactId: '0199aaaa-0000-7000-8000-000000000001',
    sourceId: '0199aaaa-0000-7000-8000-000000000002',
    sandbox: false,
    sequence: 41,
    generation: 2,
    place: { object: 'none', offset: 0, length: 0 },
    sha256: '0'.repeat(64),
    delivery: 'document',
    format: 'csv',
    mediaType: 'application/octet-stream',
    encoding: 'identity',
    fields: someFields,
    metrics: someMetrics,
    personalNow: [],
    timezone: 'Europe/Berlin',
    ...change,
  };
}

export interface SampleRow {
  day: string;
  metric: string;
  labels: string;
  value: string;
  record: number;
}

/** A parsed delivery with its rows decoded, after a look at what is the same in each of them. */
export function decoded(input: ParseInput, parsed: ParsedDelivery) {
  const samples = lines(parsed.sampleRows, sampleColumns).map((row): SampleRow => {
    same(row.source_id, input.sourceId);
    same(row.artifact_id, input.artifactId);
    same(row.sequence, String(input.sequence));
    same(row.generation, String(input.generation));
    same(row.sandbox, input.sandbox ? '1' : '0');
    return {
      day: dayToText(-Number(row.newest_first)),
      metric: row.metric!,
      labels: row.labels_json!,
      value: row.value!,
      record: Number(row.record),
    };
  });
  const rejections = lines(parsed.rejectionRows, rejectionColumns).map((row) => {
    same(row.artifact_id, input.artifactId);
    same(row.generation, String(input.generation));
    return `${row.record}.${row.ordinal} line ${row.line} ${row.field} ${row.code}`;
  });
  same(samples.length, parsed.sampleRowCount);
  same(rejections.length, parsed.rejectionRowCount);
  const { status, counts, refusal, undeclaredFields } = parsed;
  // DECISIONS 2, of every delivery that any test parses.
  same(counts.parsed + counts.rejected, counts.records);
  same(counts.samples + counts.blank + counts.supersededWithin, parsed.valuesSeen);
  return { status, counts, refusal, undeclaredFields, samples, rejections };
}

/** Parses a body and decodes its rows. */
export async function parsed(body: string | Buffer, change: Partial<ParseInput> = {}) {
  const input = someInput(change);
  return decoded(input, await parseDelivery(input, Buffer.from(body)));
}

function same(found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${found} stands where ${expected} should`);
}

const unescaped: Record<string, string> = {
  '\\\\': '\\',
  '\\t': '\t',
  '\\n': '\n',
  '\\r': '\r',
  '\\0': '\0',
  '\\b': '\b',
  '\\f': '\f',
  '\\N': 'NULL',
};

function lines(
  pieces: readonly Uint8Array[],
  columns: readonly string[],
): Record<string, string>[] {
  const text = Buffer.concat(pieces).toString();
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const cells = line.split('\t').map((cell) => cell.replace(/\\./g, (c) => unescaped[c]!));
      same(cells.length, columns.length);
      return Object.fromEntries(columns.map((column, i) => [column, cells[i]!]));
    });
}
