import type { Cell } from '../src/domain/records.ts';
import type { DeliveryProblem, RecordProblem } from '../src/domain/rejections.ts';
import type { ShapePlan } from '../src/domain/shape-plan.ts';

/** A stretch of the body, once its content encoding is undone. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Takes the next record when it has no problem; on false it must be given by its cells. */
export interface PlainRecords {
  /**
   * @param bytes well-formed UTF-8, not kept
   * @param start where the record begins
   * @param ends where each of its columns ends; the next one begins a byte later
   */
  take(bytes: Buffer, start: number, ends: Int32Array): boolean;
}

/** Where the readers of all formats put what they find in one delivery. */
export interface RecordSink {
  readonly plan: ShapePlan;
  /** Fields without a role are wanted too. */
  readonly wantsAll: boolean;
  /** Set by readers that know it: where the record lies that is being given. */
  where: (() => ByteRange) | null;
  /** Why nothing more is wanted, such as too many records. */
  readonly problem: DeliveryProblem | null;
  /** The next record. Cells stand in the order of the shape's fields; they are not kept. */
  record(cells: readonly Cell[], line: number | null): void;
  /**
   * Takes records as bytes where it can, which is faster. Null: it wants all of them as cells.
   *
   * @param columns for each field of the shape the column that holds it; −1 when there is none
   */
  readonly plainRecords: ((columns: readonly number[]) => PlainRecords) | null;
  /** The next record, which cannot be read as one. */
  brokenRecord(problem: RecordProblem, line: number | null): void;
  /** A field that the body names and the shape does not. */
  undeclared(name: string): void;
  /** Awaited by readers between pieces: hands rows on that have come together. */
  pause(): Promise<void>;
}

/** Reads a body that comes in pieces; `null` where there is no problem. */
export interface PieceReader {
  push(piece: Buffer): DeliveryProblem | null;
  /** The body has ended. */
  end(): DeliveryProblem | null;
}
