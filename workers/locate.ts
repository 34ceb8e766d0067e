import type { Cell } from '../src/domain/records.ts';
import { compileShape } from '../src/domain/shape-plan.ts';
import type { ParseInput } from '../src/parse/messages.ts';
import { formatOf, readBody } from './delivery.ts';
import type { ByteRange, RecordSink } from './record-sink.ts';

/** A record in its body. */
export interface LocatedRecord {
  /** From 1; null where the format has no lines. */
  readonly line: number | null;
  /** In the body, its content encoding undone; null in XLSX and Parquet, where it has no place. */
  readonly bytes: { readonly from: number; readonly to: number } | null;
  /**
   * By name, as text: what the record has of the fields of the shape. Null stands for what is no
   * text and for null itself, and masks whatever is undeclared or personal. A record that is
   * broken has none.
   */
  readonly fields: Readonly<Record<string, string | null>>;
}

/**
 * Finds a record in a body as received, by the code that parsed it.
 *
 * @param record from 1, as it stands with each sample and rejection
 * @returns null when the body has no such record, as far as it can be read
 */
export async function locateRecord(
  input: ParseInput,
  received: Buffer,
  record: number,
): Promise<LocatedRecord | null> {
  const finder = new RecordFinder(input, record);
  await readBody(input, received, finder, received.length);
  return finder.found;
}

class RecordFinder implements RecordSink {
  readonly plan;
  readonly wantsAll = true;
  readonly plainRecords = null;
  readonly problem = null;
  where: (() => ByteRange) | null = null;
  found: LocatedRecord | null = null;

  readonly #wanted: number;
  readonly #masked: ReadonlySet<string>;
  /** In JSON, each record names its own fields; elsewhere a header names those of all. */
  readonly #eachNames: boolean;
  #records = 0;
  #undeclared: string[] = [];

  constructor(input: ParseInput, wanted: number) {
    this.plan = compileShape(input.fields, input.metrics);
    this.#wanted = wanted;
    const personal = input.fields.filter((field) => field.personal).map(({ name }) => name);
    this.#masked = new Set([...personal, ...input.personalNow]);
    this.#eachNames = ['json', 'ndjson', 'push'].includes(formatOf(input));
  }

  record(cells: readonly Cell[], line: number | null): void {
    this.#records++;
    if (this.#records === this.#wanted) this.#find(this.#texts(cells), line);
    if (this.#eachNames) this.#undeclared = [];
  }

  brokenRecord(_: unknown, line: number | null): void {
    this.#records++;
    if (this.#records === this.#wanted) this.#find([], line);
  }

  undeclared(name: string): void {
    this.#undeclared.push(name);
  }

  async pause(): Promise<void> {}

  #texts(cells: readonly Cell[]): [string, string | null][] {
    const declared = this.plan.fields.flatMap(({ name }, i): [string, string | null][] => {
      const cell = cells[i];
      if (cell === undefined) return [];
      return [[name, typeof cell === 'string' && !this.#masked.has(name) ? cell : null]];
    });
    const others = this.#undeclared.map((name): [string, null] => [name, null]);
    return [...declared, ...others];
  }

  #find(fields: readonly [string, string | null][], line: number | null): void {
    const range = this.where?.() ?? null;
    const bytes = range && { from: range.offset, to: range.offset + range.length };
    this.found = { line, bytes, fields: Object.fromEntries(fields) };
  }
}
