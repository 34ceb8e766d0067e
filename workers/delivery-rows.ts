import { LabelInterner } from '../src/domain/label-sets.ts';
import { limits } from '../src/domain/limits.ts';
import type { Counts, Rejection } from '../src/domain/nouns.ts';
import { recordRules } from '../src/domain/records.ts';
import { encodeRejectionRow } from '../src/domain/rejection-row.ts';
import {
  type DeliveryProblem,
  deliveryRefusal,
  type RecordProblem,
  recordRejection,
} from '../src/domain/rejections.ts';
import { compileShape } from '../src/domain/shape-plan.ts';
import { fieldNameCharsMax } from '../src/domain/shapes.ts';
import { Tally } from '../src/domain/tally.ts';
import { zoneOf } from '../src/domain/timezone.ts';
import type { ParsedDelivery, ParseInput, RowPieces } from '../src/parse/messages.ts';
import { assert } from '../src/std/assert.ts';
import { PlainRecordReader } from './plain-records.ts';
import type { RecordSink } from './record-sink.ts';
import { RowBytes } from './row-bytes.ts';
import { SampleWriter } from './sample-writer.ts';

const undeclaredNamesMax = 1_000;

export interface DeliveryRows extends RecordSink {
  /** There were more rows than are held: they were judged and counted, then let go. */
  readonly letGo: boolean;
  /** How many rows were made. */
  readonly made: { readonly samples: number; readonly rejections: number };
  /** @param problem why the body cannot be read to its end; then no row is given */
  finish(problem: DeliveryProblem | null): ParsedDelivery;
}

export interface RowLimits {
  /** Bytes of rows of each kind that are held; with more, all are let go. */
  readonly heldMax: number;
  /** Bytes of rows of each kind; beyond it the delivery is refused. */
  readonly bytesMax: number;
}

/** Takes rows of a delivery before all of them are made; its last byte was judged before. */
export type HandOn = (rows: RowPieces) => Promise<void>;

/** Rows are handed on when they have come to so much. */
const handOnBytes = 4 * 1024 * 1024;

/**
 * Makes the rows of one delivery: judged, counted and encoded as they come.
 *
 * @param handOn of a second reading: takes the rows as they come, which are then not held
 */
export function deliveryRows(
  input: ParseInput,
  most: RowLimits,
  handOn: HandOn | null = null,
): DeliveryRows {
  return new RowsOfDelivery(input, most, handOn);
}

class RowsOfDelivery implements DeliveryRows {
  readonly plan: DeliveryRows['plan'];
  readonly wantsAll = false;
  readonly where = null;
  readonly #input: ParseInput;
  readonly #bytesMax: number;
  readonly #handOn: HandOn | null;
  readonly #judge: ReturnType<typeof recordRules>;
  readonly #interner: LabelInterner;
  readonly #tally = new Tally();
  readonly #undeclared = new Set<string>();
  readonly #samples: RowBytes;
  readonly #rejections: RowBytes;
  readonly #writer: SampleWriter;
  readonly #valuesARecord: number;
  #records = 0;
  #valuesSeen = 0;

  constructor(input: ParseInput, most: RowLimits, handOn: HandOn | null) {
    this.plan = compileShape(input.fields, input.metrics);
    this.#input = input;
    this.#bytesMax = most.bytesMax;
    this.#handOn = handOn;
    this.#interner = new LabelInterner(this.plan.labelSets);
    this.#judge = recordRules(this.plan, zoneOf(input.timezone), this.#interner);
    this.#samples = new RowBytes(most.heldMax);
    this.#rejections = new RowBytes(most.heldMax);
    this.#writer = new SampleWriter(input, this.#samples);
    this.#valuesARecord = this.plan.fields.filter((field) => field.role === 'value').length;
  }

  get problem(): DeliveryProblem | null {
    if (this.#records > limits.recordsMax) return { code: 'too_many_records' };
    const { bytesInAll: samples } = this.#samples;
    const { bytesInAll: rejections } = this.#rejections;
    const over = samples > this.#bytesMax || rejections > this.#bytesMax;
    return over ? { code: 'too_many_rows' } : null;
  }

  get made() {
    return { samples: this.#samples.count, rejections: this.#rejections.count };
  }

  get letGo() {
    return this.#samples.overflowed || this.#rejections.overflowed;
  }

  record(...[cells, line]: Parameters<DeliveryRows['record']>): void {
    this.#records++;
    const judged = this.#judge(cells);
    // The first reading counted.
    if (this.#handOn === null) this.#tally.add(judged);
    for (const sample of judged.samples) this.#writer.write(sample, this.#records);
    if (judged.problems.length > 0) this.#reject(judged.problems, line);
    else this.#valuesSeen += this.#valuesARecord;
  }

  plainRecords(columns: readonly number[]) {
    const tally = this.#handOn === null ? this.#tally : null;
    const parts = { plan: this.plan, zone: zoneOf(this.#input.timezone), interner: this.#interner };
    return new PlainRecordReader({ ...parts, tally, writer: this.#writer }, columns, (blank) => {
      tally?.parsed(blank);
      this.#valuesSeen += this.#valuesARecord;
      return ++this.#records;
    });
  }

  brokenRecord(problem: RecordProblem, line: number | null): void {
    this.#records++;
    const problems = [problem];
    if (this.#handOn === null) this.#tally.add({ problems, samples: [], blank: 0 });
    this.#reject(problems, line);
  }

  undeclared(name: string): void {
    if (this.#undeclared.size < undeclaredNamesMax) this.#undeclared.add(cut(name));
  }

  async pause(): Promise<void> {
    if (this.#handOn === null || this.#samples.held + this.#rejections.held < handOnBytes) return;
    await this.#handOn(taken(this.#samples, this.#rejections));
  }

  finish(problem: DeliveryProblem | null): ParsedDelivery {
    const names = [...this.#undeclared];
    const rows = taken(this.#samples, this.#rejections);
    this.#samples.close();
    this.#rejections.close();
    const why = problem ?? this.problem;
    if (why !== null) return refused(why, names);
    const counts = this.#tally.counts();
    const seen = { records: this.#records, valuesSeen: this.#valuesSeen };
    if (this.#handOn === null) assertAccounts(counts, { ...seen, rows: this.#samples.count });
    return {
      // A delivery without records is parsed; one with records has a good one among them.
      status: counts.records > 0 && counts.parsed === 0 ? 'rejected' : 'parsed',
      counts,
      valuesSeen: this.#valuesSeen,
      refusal: null,
      undeclaredFields: names,
      ...rows,
    };
  }

  #reject(problems: readonly RecordProblem[], line: number | null): void {
    for (const [ordinal, problem] of problems.entries()) {
      const rejection = recordRejection(problem, this.#records, line);
      this.#rejections.row(encodeRejectionRow(this.#input, rejection, ordinal));
    }
  }
}

/** The rows that are held. */
function taken(samples: RowBytes, rejections: RowBytes): RowPieces {
  const { pieces: sampleRows, count: sampleRowCount } = samples.take();
  const { pieces: rejectionRows, count: rejectionRowCount } = rejections.take();
  return { sampleRows, sampleRowCount, rejectionRows, rejectionRowCount };
}

/** DECISIONS 2, accounting: a difference is a defect of the parser, whatever the body holds. */
function assertAccounts(
  counts: Counts,
  seen: { records: number; valuesSeen: number; rows: number },
): void {
  const { parsed, rejected, samples, blank, supersededWithin } = counts;
  assert(counts.records === seen.records, 'each record is counted');
  assert(parsed + rejected === seen.records, 'records = parsed + rejected');
  assert(samples + blank + supersededWithin === seen.valuesSeen, 'each value is accounted for');
  assert(samples + supersededWithin === seen.rows, 'each sample is a row');
}

const noCounts: Counts = {
  records: 0,
  parsed: 0,
  rejected: 0,
  samples: 0,
  blank: 0,
  supersededWithin: 0,
};

/** A delivery rejected as a whole gives no rows (DECISIONS 2). */
function refused(problem: DeliveryProblem, undeclaredFields: readonly string[]): ParsedDelivery {
  const refusal: Rejection = deliveryRefusal(problem);
  return {
    status: 'rejected',
    counts: noCounts,
    valuesSeen: 0,
    refusal,
    undeclaredFields,
    sampleRowCount: 0,
    sampleRows: [],
    rejectionRowCount: 0,
    rejectionRows: [],
  };
}

/** Cut by code points, so that no surrogate pair is torn. */
function cut(name: string): string {
  return name.length <= fieldNameCharsMax ? name : [...name].slice(0, fieldNameCharsMax).join('');
}
