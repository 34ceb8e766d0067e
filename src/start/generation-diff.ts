import { StringDecoder } from 'node:string_decoder';
import type { Rejection } from '../domain/nouns.ts';
import { rejectionColumns } from '../domain/rejection-row.ts';
import { sampleColumns, unescapeTsv } from '../domain/sample-row.ts';

/** A sample of one record of a delivery. */
export interface RecordRow {
  readonly record: number;
  /** Days since 1970, negated, as text. */
  readonly day: string;
  readonly metric: string;
  readonly labelsJson: string;
  readonly value: string;
}

export interface Difference {
  /** Records that give samples before and after, but others. */
  readonly changed: number;
  /** Records that give samples after and gave none before. */
  readonly appearing: number;
  /** Samples (by metric, period and labels) that were there before and are not after. */
  readonly vanishing: number;
}

/**
 * Compares the samples that a delivery gave with those it would give. Holds a number for each
 * record and for each sample, never their text: two rows count as the same when 53 bits of their
 * hashes are, and the order within a record does not matter.
 */
export class GenerationDiff {
  readonly #before = new Map<number, number>();
  readonly #after = new Map<number, number>();
  readonly #samplesBefore = new Set<number>();
  readonly #samplesAfter = new Set<number>();

  before(row: RecordRow): void {
    note(row, this.#before, this.#samplesBefore);
  }

  after(row: RecordRow): void {
    note(row, this.#after, this.#samplesAfter);
  }

  difference(): Difference {
    let changed = 0;
    let appearing = 0;
    let vanishing = 0;
    for (const [record, hash] of this.#after) {
      const was = this.#before.get(record);
      if (was === undefined) appearing += 1;
      else if (was !== hash) changed += 1;
    }
    for (const sample of this.#samplesBefore) if (!this.#samplesAfter.has(sample)) vanishing += 1;
    return { changed, appearing, vanishing };
  }
}

/**
 * Counts the samples (by metric, period and labels) that are other ones after: the value of the
 * last record decides, before and after.
 */
export class SampleDiff {
  readonly #before = new Map<number, { record: number; value: string }>();
  readonly #after = new Map<number, { record: number; value: string }>();

  before(row: RecordRow): void {
    keepLast(row, this.#before);
  }

  after(row: RecordRow): void {
    keepLast(row, this.#after);
  }

  difference(): { added: number; changed: number; gone: number } {
    let [added, changed, gone] = [0, 0, 0];
    for (const [identity, { value }] of this.#after) {
      const was = this.#before.get(identity);
      if (was === undefined) added += 1;
      else if (was.value !== value) changed += 1;
    }
    for (const identity of this.#before.keys()) if (!this.#after.has(identity)) gone += 1;
    return { added, changed, gone };
  }
}

function keepLast(
  { day, metric, labelsJson, record, value }: RecordRow,
  samples: Map<number, { record: number; value: string }>,
): void {
  const identity = hash53(`${day}\t${metric}\t${labelsJson}`);
  const known = samples.get(identity);
  if (known === undefined || known.record <= record) samples.set(identity, { record, value });
}

function note(row: RecordRow, records: Map<number, number>, samples: Set<number>): void {
  const identity = `${row.day}\t${row.metric}\t${row.labelsJson}`;
  samples.add(hash53(identity));
  const sum = (records.get(row.record) ?? 0) + hash53(`${identity}\t${row.value}`);
  records.set(row.record, sum % 2 ** 53);
}

/** Two FNV-1a hashes of 32 bits with different beginnings, 53 bits of them. */
function hash53(text: string): number {
  let a = 0x811c9dc5;
  let b = 0x2f0b4a27;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit ^ (a >>> 16), 0x01000193);
  }
  return (a >>> 11) * 2 ** 32 + (b >>> 0);
}

/** The rows of a parse thread (`domain/sample-row.ts`), read back. */
export function* parsedRows(blocks: Iterable<Uint8Array>): Generator<RecordRow> {
  const [day, metric, labels, value, record] = (
    ['newest_first', 'metric', 'labels_json', 'value', 'record'] as const
  ).map((name) => sampleColumns.indexOf(name)) as [number, number, number, number, number];
  for (const line of linesOf(blocks)) {
    const cells = line.split('\t');
    yield {
      record: Number(cells[record]),
      day: cells[day]!,
      metric: cells[metric]!,
      // JSON on one line has nothing else to escape.
      labelsJson: cells[labels]!.replaceAll('\\\\', '\\'),
      value: cells[value]!,
    };
  }
}

/** The record numbers of rejections as a parse thread gives them. */
export function* rejectedRecords(blocks: Iterable<Uint8Array>): Generator<number> {
  const record = rejectionColumns.indexOf('record');
  for (const line of linesOf(blocks)) yield Number(line.split('\t')[record]);
}

/** The first rejections as a parse thread gives them. */
export function firstRejections(blocks: Iterable<Uint8Array>, most: number): Rejection[] {
  const [record, line, field, code, message] = (
    ['record', 'line', 'field', 'code', 'message'] as const
  ).map((name) => rejectionColumns.indexOf(name)) as [number, number, number, number, number];
  const found: Rejection[] = [];
  for (const text of linesOf(blocks)) {
    if (found.length === most) break;
    const cells = text.split('\t');
    const shown = (at: number) => (cells[at] === '\\N' ? null : unescapeTsv(cells[at]!));
    found.push({
      record: Number(cells[record]),
      line: cells[line] === '\\N' ? null : Number(cells[line]),
      field: shown(field),
      code: cells[code]!,
      message: shown(message)!,
    });
  }
  return found;
}

/** A line of what `SampleStore.generation` gives. */
export function storedRow(line: string): RecordRow {
  const [record, day, metric, labelsJson, value] = line.split('\t') as [
    ...[string, string, string, string, string],
  ];
  return { record: Number(record), day, metric, labelsJson, value };
}

function* linesOf(chunks: Iterable<Uint8Array>): Generator<string> {
  const cut = lineCutter();
  for (const chunk of chunks) yield* cut(chunk);
}

/** @returns a function that takes chunks and gives the lines that are complete with each */
export function lineCutter() {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk: Uint8Array): string[] => {
    const lines = (
      rest + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    ).split('\n');
    rest = lines.pop()!;
    return lines;
  };
}
