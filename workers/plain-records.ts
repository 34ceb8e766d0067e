import { isDecimal } from '../src/domain/decimals.ts';
import type { LabelInterner, Labels } from '../src/domain/label-sets.ts';
import { limits } from '../src/domain/limits.ts';
import type { Grain } from '../src/domain/nouns.ts';
import { readPeriod } from '../src/domain/periods.ts';
import type { LabelSet, PlannedMetric, ShapePlan } from '../src/domain/shape-plan.ts';
import type { Tally } from '../src/domain/tally.ts';
import type { Zone } from '../src/domain/timezone.ts';
import { TextIds } from '../src/std/text-ids.ts';
import type { PlainRecords } from './record-sink.ts';
import type { SampleWriter } from './sample-writer.ts';

/** Periods that are kept read. */
const daysMax = 4_096;

interface ValueField {
  readonly column: number;
  /** Null in long form, where another field names it. */
  readonly metric: PlannedMetric | null;
}

/** Labels that are found by the bytes of all their columns at once; beyond it one by one. */
const spansMax = 32_768;

interface LabelSpan {
  readonly first: number;
  readonly last: number;
  readonly texts: TextIds;
  /** By the number of their text. */
  readonly labels: Labels[];
}

interface Parts {
  readonly plan: ShapePlan;
  readonly zone: Zone;
  readonly interner: LabelInterner;
  /** Null: the records were counted before. */
  readonly tally: Tally | null;
  readonly writer: SampleWriter;
}

/**
 * Judges and writes records without making text of their cells, by the rules of
 * `domain/records.ts`. Whatever is not plainly good is left to those: nothing is rejected here.
 */
export class PlainRecordReader implements PlainRecords {
  readonly #parts: Parts;
  readonly #columns: readonly number[];
  readonly #values: ValueField[] = [];
  readonly #labelColumns: number[];
  readonly #valueCount: number;
  /** By the label set's place in the plan; null where its columns are not neighbours. */
  readonly #spans: (LabelSpan | null)[];
  readonly #counted: (blank: number) => number;
  #period: { column: number; grain: Grain } | null = null;
  #metricColumn = -1;

  readonly #days = new Map<string, number | string>();
  /** Of the record that is being read. */
  #day = 0;
  #metric: PlannedMetric | null = null;
  readonly #lastPeriod = new Uint8Array(limits.labelCharsMax);
  #lastPeriodBytes = 0;
  readonly #textIds: number[] = [];

  /** @param counted takes note of a good record with so many blanks; answers its number */
  constructor(parts: Parts, columns: readonly number[], counted: (blank: number) => number) {
    this.#parts = parts;
    this.#columns = columns;
    this.#counted = counted;
    for (const [position, field] of parts.plan.fields.entries()) {
      const column = columns[position]!;
      if (field.role === 'period') this.#period = { column, grain: field.grain };
      else if (field.role === 'metric') this.#metricColumn = column;
      else if (field.role === 'value') this.#values.push({ column, metric: field.metric });
    }
    this.#valueCount = this.#values.length;
    this.#spans = parts.plan.labelSets.map((set) => spanOf(set, columns));
    this.#labelColumns = parts.plan.fields.flatMap(({ role }, position) =>
      role === 'label' && columns[position]! >= 0 ? [columns[position]!] : [],
    );
  }

  take(bytes: Buffer, start: number, ends: Int32Array): boolean {
    if (!this.#isGood(bytes, start, ends)) return false;
    const { tally, writer } = this.#parts;
    let blank = 0;
    for (let i = 0; i < this.#valueCount; i++) {
      const { column } = this.#values[i]!;
      if (column < 0 || beginOf(column, start, ends) === ends[column]!) blank++;
    }
    const record = this.#counted(blank);
    let set: LabelSet | null = null;
    let labels: Labels | null = null;
    let identity = 0;
    for (let i = 0; i < this.#valueCount; i++) {
      const { column, metric: own } = this.#values[i]!;
      if (column < 0) continue;
      const from = beginOf(column, start, ends);
      const to = ends[column]!;
      if (from === to) continue;
      const metric = own ?? this.#metric!;
      if (labels === null || metric.labelSet !== set) {
        set = metric.labelSet;
        labels = this.#labelsOf(set!, bytes, start, ends);
        if (tally !== null) identity = tally.identity(metric, labels, this.#day);
      }
      tally?.sample(metric, identity);
      writer.writeBytes(metric, labels, this.#day, bytes, from, to, record);
    }
    return true;
  }

  #isGood(bytes: Buffer, start: number, ends: Int32Array): boolean {
    const labelColumns = this.#labelColumns;
    for (let i = 0; i < labelColumns.length; i++) {
      const column = labelColumns[i]!;
      // Of bytes there are at least as many as of characters.
      if (ends[column]! - beginOf(column, start, ends) > limits.labelCharsMax) return false;
    }
    for (let i = 0; i < this.#valueCount; i++) {
      const { column } = this.#values[i]!;
      if (column < 0) continue;
      const from = beginOf(column, start, ends);
      const to = ends[column]!;
      if (from < to && !isDecimal(bytes, from, to)) return false;
    }
    return this.#readDay(bytes, start, ends) && this.#readMetric(bytes, start, ends);
  }

  #readDay(bytes: Buffer, start: number, ends: Int32Array): boolean {
    const { column, grain } = this.#period!;
    if (column < 0) return false;
    const from = beginOf(column, start, ends);
    const to = ends[column]!;
    // Longer is no period.
    if (to === from || to - from > limits.labelCharsMax) return false;
    if (this.#isLastPeriod(bytes, from, to)) return true;
    // Beyond ASCII it makes another text, but then it is no period either way.
    const text = bytes.toString('latin1', from, to);
    let day = this.#days.get(text);
    if (day === undefined) {
      day = readPeriod(text, grain, this.#parts.zone);
      if (this.#days.size < daysMax) this.#days.set(text, day);
    }
    if (typeof day !== 'number') return false;
    this.#day = day;
    this.#lastPeriodBytes = to - from;
    for (let i = from; i < to; i++) this.#lastPeriod[i - from] = bytes[i]!;
    return true;
  }

  /** The same period as of the record before: most files are sorted by it. */
  #isLastPeriod(bytes: Buffer, from: number, to: number): boolean {
    if (to - from !== this.#lastPeriodBytes) return false;
    const last = this.#lastPeriod;
    // From its end on, where periods differ.
    for (let i = to - 1; i >= from; i--) if (bytes[i] !== last[i - from]) return false;
    return true;
  }

  #readMetric(bytes: Buffer, start: number, ends: Int32Array): boolean {
    const column = this.#metricColumn;
    if (column < 0) return this.#values[0]?.metric !== null;
    const from = beginOf(column, start, ends);
    const to = ends[column]!;
    if (to - from > limits.metricKeyCharsMax) return false;
    const text = bytes.toString('latin1', from, to);
    // Keys are ASCII: bytes beyond it make a text that is none.
    this.#metric = this.#parts.plan.metricByKey.get(text) ?? null;
    return this.#metric !== null && this.#metric.labelSet !== null;
  }

  #labelsOf(set: LabelSet, bytes: Buffer, start: number, ends: Int32Array): Labels {
    const span = this.#spans[set.index]!;
    if (span === null) return this.#interned(set, bytes, start, ends);
    const from = beginOf(span.first, start, ends);
    const id = span.texts.idOfBytes(bytes, from, ends[span.last]!);
    const known = span.labels[id];
    if (known !== undefined) return known;
    const labels = this.#interned(set, bytes, start, ends);
    if (id >= 0) span.labels[id] = labels;
    return labels;
  }

  #interned(set: LabelSet, bytes: Buffer, start: number, ends: Int32Array): Labels {
    const { interner } = this.#parts;
    const textIds = this.#textIds;
    const { positions } = set;
    textIds.length = positions.length;
    for (let i = 0; i < positions.length; i++) {
      const column = this.#columns[positions[i]!]!;
      const from = column < 0 ? 0 : beginOf(column, start, ends);
      const to = column < 0 ? 0 : ends[column]!;
      textIds[i] = interner.texts.idOfBytes(bytes, from, to);
    }
    const kept = interner.kept(set, textIds);
    if (kept !== null) return kept;
    const texts = positions.map((position) => {
      const column = this.#columns[position]!;
      return column < 0 ? '' : bytes.toString('utf8', beginOf(column, start, ends), ends[column]);
    });
    return interner.notKept(set, texts);
  }
}

function spanOf(set: LabelSet, columns: readonly number[]): LabelSpan | null {
  const held = set.positions.map((position) => columns[position]!);
  const first = Math.min(...held);
  const last = Math.max(...held);
  if (held.length === 0 || first < 0 || last - first + 1 !== held.length) return null;
  return { first, last, texts: new TextIds(spansMax), labels: [] };
}

function beginOf(column: number, start: number, ends: Int32Array): number {
  return column === 0 ? start : ends[column - 1]! + 1;
}
