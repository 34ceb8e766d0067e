import type { Counts, Rejection } from '../src/domain/nouns.ts';
import { type Cell, recordRules } from '../src/domain/records.ts';
import { encodeRejectionRow } from '../src/domain/rejection-row.ts';
import {
  type DeliveryProblem,
  deliveryRefusal,
  type RecordProblem,
  recordRejection,
} from '../src/domain/rejections.ts';
import { compileShape, type ShapePlan } from '../src/domain/shape-plan.ts';
import { fieldNameCharsMax } from '../src/domain/shapes.ts';
import { makeTally } from '../src/domain/tally.ts';
import { zoneOf } from '../src/domain/timezone.ts';
import type { ParsedDelivery, ParseInput } from '../src/parse/messages.ts';
import { RowBytes } from './row-bytes.ts';
import { sampleWriter } from './sample-writer.ts';

/** Bytes of encoded rows of each kind that one delivery may give. */
const rowBytesMax = 256 * 1024 * 1024;
const undeclaredNamesMax = 1_000;

/** Where the readers of all formats put what they find in one delivery. */
export interface DeliveryRows {
  readonly plan: ShapePlan;
  /** The next record. Cells stand in the order of the shape's fields; they are not kept. */
  record(cells: readonly Cell[], line: number | null): void;
  /** The next record, which cannot be read as one. */
  brokenRecord(problem: RecordProblem, line: number | null): void;
  /** A field that the body names and the shape does not. */
  undeclared(name: string): void;
  /** @param problem why the body cannot be read to its end; then no row is given */
  finish(problem: DeliveryProblem | null): ParsedDelivery;
}

/**
 * Makes the rows of one delivery: judged, counted and encoded as they come.
 *
 * @param bytesMax bytes of rows of each kind; beyond it the delivery is refused
 */
export function deliveryRows(input: ParseInput, bytesMax = rowBytesMax): DeliveryRows {
  const plan = compileShape(input.fields, input.metrics);
  const judge = recordRules(plan, zoneOf(input.timezone));
  const tally = makeTally();
  const undeclared = new Set<string>();
  const samples = new RowBytes(bytesMax);
  const rejections = new RowBytes(bytesMax);
  const writeSample = sampleWriter(input, samples);
  const valuesARecord = plan.fields.filter((field) => field.role === 'value').length;
  let records = 0;
  let valuesSeen = 0;

  function reject(problems: readonly RecordProblem[], line: number | null): void {
    for (const [ordinal, problem] of problems.entries()) {
      const rejection = recordRejection(problem, records, line);
      rejections.row(encodeRejectionRow(input, rejection, ordinal));
    }
  }

  return {
    plan,

    record(cells, line) {
      records++;
      const judged = judge(cells);
      tally.add(judged);
      for (const sample of judged.samples) writeSample(sample, records);
      if (judged.problems.length > 0) reject(judged.problems, line);
      else valuesSeen += valuesARecord;
    },

    brokenRecord(problem, line) {
      records++;
      const problems = [problem];
      tally.add({ problems, samples: [], blank: 0 });
      reject(problems, line);
    },

    undeclared(name) {
      if (undeclared.size < undeclaredNamesMax) undeclared.add(cut(name));
    },

    finish(problem) {
      const names = [...undeclared];
      if (problem !== null) return refused(problem, names);
      if (samples.overflowed || rejections.overflowed) {
        return refused({ code: 'too_many_rows' }, names);
      }
      const counts = tally.counts();
      return {
        // A delivery without records is parsed; one with records has a good one among them.
        status: counts.records > 0 && counts.parsed === 0 ? 'rejected' : 'parsed',
        counts,
        valuesSeen,
        refusal: null,
        undeclaredFields: names,
        sampleRowCount: samples.count,
        sampleRows: samples.take(),
        rejectionRowCount: rejections.count,
        rejectionRows: rejections.take(),
      };
    },
  };
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
    sampleRows: new Uint8Array(0),
    rejectionRowCount: 0,
    rejectionRows: new Uint8Array(0),
  };
}

/** Cut by code points, so that no surrogate pair is torn. */
function cut(name: string): string {
  return name.length <= fieldNameCharsMax ? name : [...name].slice(0, fieldNameCharsMax).join('');
}
