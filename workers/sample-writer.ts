import type { Labels } from '../src/domain/label-sets.ts';
import type { RecordSample } from '../src/domain/records.ts';
import { type SampleRowBase, sampleRowHead } from '../src/domain/sample-row.ts';
import type { PlannedMetric } from '../src/domain/shape-plan.ts';
import type { RowBytes } from './row-bytes.ts';

/** Labels whose bytes are kept for the next sample that has them. */
const headsMax = 8_192;
const minus = 0x2d;
const zero = 0x30;
const tab = 0x09;
const lineFeed = 0x0a;
/** Digits, signs, tabs and the newline of a day and a record. */
const restMax = 40;

/**
 * Writes samples as rows, as `sampleRowEncoder` gives them. The head that rows of one metric and
 * labels have in common is encoded once; of the rest, day, value and record are ASCII.
 */
export class SampleWriter {
  readonly #rows: RowBytes;
  readonly #headOf: (metric: string, labelsJson: string) => string;
  /** By the metric's place in the plan, then by the labels' id, as far as these are kept. */
  readonly #heads: Buffer[][] = [];

  constructor(base: SampleRowBase, rows: RowBytes) {
    this.#rows = rows;
    this.#headOf = sampleRowHead(base);
  }

  /** @param record its number in the delivery, from 1 */
  write({ metric, labels, day, value }: RecordSample, record: number): void {
    const page = this.#begin(metric, labels, day, value.length);
    let at = this.#rows.at;
    for (let i = 0; i < value.length; i++) page[at++] = value.charCodeAt(i);
    this.#rows.at = at;
    this.#end(page, record);
  }

  /** The same with the value in `bytes[from..to)`. */
  writeBytes(
    metric: PlannedMetric,
    labels: Labels,
    day: number,
    bytes: Uint8Array,
    from: number,
    to: number,
    record: number,
  ): void {
    const page = this.#begin(metric, labels, day, to - from);
    let at = this.#rows.at;
    for (let i = from; i < to; i++) page[at++] = bytes[i]!;
    this.#rows.at = at;
    this.#end(page, record);
  }

  #begin(metric: PlannedMetric, labels: Labels, day: number, valueBytes: number): Buffer {
    const page = this.#putHead(metric, labels, valueBytes + restMax);
    const at = putInteger(page, this.#rows.at, -day);
    page[at] = tab;
    this.#rows.at = at + 1;
    return page;
  }

  /** @returns the page, with so much room behind the head */
  #putHead(metric: PlannedMetric, labels: Labels, more: number): Buffer {
    const rows = this.#rows;
    this.#heads[metric.index] ??= [];
    const ofMetric = this.#heads[metric.index]!;
    const known = ofMetric[labels.id];
    if (known !== undefined) {
      const page = rows.room(known.length + more);
      page.set(known, rows.at);
      rows.at += known.length;
      return page;
    }
    const head = this.#headOf(metric.key, labels.json);
    const page = rows.room(3 * head.length + more);
    rows.at += page.write(head, rows.at);
    if (labels.id >= 0 && labels.id < headsMax) ofMetric[labels.id] = Buffer.from(head);
    return page;
  }

  #end(page: Buffer, record: number): void {
    const rows = this.#rows;
    page[rows.at] = tab;
    const at = putInteger(page, rows.at + 1, record);
    page[at] = lineFeed;
    rows.at = at + 1;
    rows.count++;
  }
}

/** Writes a whole number of less than 2^31 in decimal digits. @returns where it ends */
function putInteger(page: Buffer, at: number, value: number): number {
  let rest = value;
  if (value < 0) {
    page[at++] = minus;
    rest = -value;
  }
  let digits = 1;
  for (let power = 10; power <= rest; power *= 10) digits++;
  const end = at + digits;
  for (let place = end - 1; place >= at; place--) {
    const shorter = (rest / 10) | 0;
    page[place] = zero + rest - 10 * shorter;
    rest = shorter;
  }
  return end;
}
