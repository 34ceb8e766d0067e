import { personalNames } from '../src/domain/personal.ts';
import type { Cell } from '../src/domain/records.ts';
import { compileShape } from '../src/domain/shape-plan.ts';
import type { LocatedRecord, LocateTask, ParseInput } from '../src/parse/messages.ts';
import { formatOf, readBody } from './delivery.ts';
import type { ByteRange, RecordSink } from './record-sink.ts';

/**
 * Finds records in a body as received, by the code that parsed it.
 *
 * @returns one for each that was asked for; null when the body has no such record, as far as it
 *   can be read
 */
export async function locateRecords(
  { input, records, shownMax }: LocateTask,
  received: Buffer,
): Promise<(LocatedRecord | null)[]> {
  const finder = new RecordFinder(input, records, shownMax);
  await readBody(input, received, finder, received.length);
  return records.map((record) => finder.found.get(record) ?? null);
}

const everything = { fields: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY };

class RecordFinder implements RecordSink {
  readonly plan;
  readonly wantsAll = true;
  readonly plainRecords = null;
  readonly problem = null;
  where: (() => ByteRange) | null = null;
  readonly found = new Map<number, LocatedRecord>();

  readonly #wanted: ReadonlySet<number>;
  readonly #shownMax: { readonly fields: number; readonly chars: number };
  readonly #personal: ReadonlySet<string>;
  /** In JSON, each record names its own fields; elsewhere a header names those of all. */
  readonly #eachNames: boolean;
  #records = 0;
  #undeclared: string[] = [];

  constructor(input: ParseInput, wanted: readonly number[], shownMax = everything) {
    this.plan = compileShape(input.fields, input.metrics);
    this.#wanted = new Set(wanted);
    this.#shownMax = shownMax;
    this.#personal = new Set([...personalNames(input.fields), ...input.personalNow]);
    this.#eachNames = ['json', 'ndjson', 'push'].includes(formatOf(input));
  }

  record(cells: readonly Cell[], line: number | null): void {
    this.#records++;
    if (this.#wanted.has(this.#records)) this.#find(this.#shown(cells), line);
    if (this.#eachNames) this.#undeclared = [];
  }

  brokenRecord(_: unknown, line: number | null): void {
    this.#records++;
    if (this.#wanted.has(this.#records)) this.#find(nothingShown, line);
    if (this.#eachNames) this.#undeclared = [];
  }

  undeclared(name: string): void {
    this.#undeclared.push(name);
  }

  async pause(): Promise<void> {}

  #shown(cells: readonly Cell[]): Shown {
    const declared = this.plan.fields.flatMap(({ name }, i) => {
      const cell = cells[i];
      if (cell === undefined) return [];
      const masked = this.#personal.has(name);
      return [{ name, text: typeof cell === 'string' && !masked ? cell : null, masked }];
    });
    const others = this.#undeclared.map((name) => ({ name, text: null, masked: true }));
    const all = [...declared, ...others];
    const shown = all.slice(0, this.#shownMax.fields);
    const { chars } = this.#shownMax;
    const start = (text: string) => text.slice(0, chars);
    return {
      fields: Object.fromEntries(shown.map(({ name, text }) => [start(name), text && start(text)])),
      masked: shown.filter((field) => field.masked).map(({ name }) => start(name)),
      cut:
        shown.length < all.length ||
        shown.some(({ name, text }) => Math.max(name.length, text?.length ?? 0) > chars),
    };
  }

  #find(shown: Shown, line: number | null): void {
    const range = this.where?.() ?? null;
    const bytes = range && { from: range.offset, to: range.offset + range.length };
    this.found.set(this.#records, { line, bytes, ...shown });
  }
}

type Shown = Pick<LocatedRecord, 'fields' | 'masked' | 'cut'>;

const nothingShown: Shown = { fields: {}, masked: [], cut: false };
