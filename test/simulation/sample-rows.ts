import type { EncodedRows, Forgetting, Settlement } from '../../src/samples/samples.ts';

/** One row as parsing gives it (`src/domain/sample-row.ts`). */
export interface SampleRow {
  readonly sourceId: string;
  readonly artifactId: string;
  readonly sequence: number;
  readonly generation: number;
  readonly sandbox: boolean;
  readonly metric: string;
  readonly labels: string;
  readonly day: number;
  readonly value: string;
  readonly record: number;
}

/** A row that window reads look at. */
interface Current {
  readonly row: SampleRow;
  readonly isDeleted: boolean;
  /** Compared part by part. */
  readonly version: readonly [number, number, number];
}

/**
 * The tables of the sample store in memory: what ClickHouse keeps once all is merged
 * (`src/samples/migrations.ts`, `src/samples/settle.ts`).
 */
export class SampleRows {
  /** Every row ever inserted: by sample, then by version. */
  readonly versions = new Map<string, Map<string, SampleRow>>();
  readonly rejections = new Map<string, string>();
  readonly #current = new Map<string, Current>();
  /** Where it is not the first: by source and sequence. */
  readonly #generations = new Map<string, number>();

  /** @param rowsMax how many of the rows get in */
  insert(rows: EncodedRows, rowsMax = Number.POSITIVE_INFINITY): void {
    let left = rowsMax;
    for (const [blocks, readable] of [
      [rows.samples, true],
      [rows.reparsed ?? [], false],
    ] as const) {
      for (const row of linesOf(blocks).map(readRow)) {
        if (left-- <= 0) return;
        this.#keep(row);
        if (!readable) continue;
        const version = [row.sequence, row.generation, row.record] as const;
        this.#show(sampleOf(row), { row, isDeleted: false, version });
      }
    }
    for (const line of linesOf(rows.rejections)) {
      if (left-- <= 0) return;
      this.rejections.set(line.split('\t').slice(0, 4).join('\t'), line);
    }
  }

  noteGenerations({ sourceId, deliveries }: Settlement): void {
    for (const { sequence, generation } of deliveries) {
      const name = `${sourceId} ${sequence}`;
      this.#generations.set(name, Math.max(generation, this.#generations.get(name) ?? 0));
    }
  }

  settle(settlement: Settlement): void {
    this.noteGenerations(settlement);
    const { sourceId, number, reparsedUpTo } = settlement;
    const sequences = new Set(settlement.deliveries.map(({ sequence }) => sequence));
    for (const [sample, versions] of this.versions) {
      const rows = [...versions.values()];
      if (!rows.some((row) => row.sourceId === sourceId && sequences.has(row.sequence))) continue;
      const valid = rows.filter((row) => this.#stands(row)).sort(byPlace);
      const row = valid.at(-1) ?? rows[0]!;
      const isDeleted = valid.length === 0;
      const version = [reparsedUpTo, number, isDeleted ? 0 : row.record] as const;
      this.#show(sample, { row, isDeleted, version });
    }
  }

  /** Nothing that is readable changes. */
  forget({ sourceId, generation }: Forgetting): void {
    for (const versions of this.versions.values()) {
      for (const [name, row] of versions) {
        const standing = this.#generations.get(`${row.sourceId} ${row.sequence}`) ?? 0;
        const isOf = row.sourceId === sourceId && row.generation < generation;
        if (isOf && standing >= generation) versions.delete(name);
      }
    }
  }

  /** The rows that a window read shows, newest first. */
  readable(sourceId: string, fromDay: number, toDay: number): SampleRow[] {
    return [...this.#current.values()]
      .filter(({ row, isDeleted }) => !isDeleted && row.sourceId === sourceId)
      .map(({ row }) => row)
      .filter(({ day }) => day >= fromDay && day < toDay)
      .sort(inOrder);
  }

  #stands({ sourceId, sequence, generation }: SampleRow): boolean {
    return generation === (this.#generations.get(`${sourceId} ${sequence}`) ?? 0);
  }

  #keep(row: SampleRow): void {
    const sample = sampleOf(row);
    const known = this.versions.get(sample) ?? new Map<string, SampleRow>();
    known.set(`${row.sequence} ${row.generation} ${row.record}`, row);
    this.versions.set(sample, known);
  }

  #show(sample: string, next: Current): void {
    const known = this.#current.get(sample);
    if (!known || !isLater(known.version, next.version)) this.#current.set(sample, next);
  }
}

function linesOf(blocks: readonly Uint8Array[]): string[] {
  return Buffer.concat(blocks).toString().split('\n').slice(0, -1);
}

/** Nothing in the rows of a simulation needs escaping. */
function readRow(line: string): SampleRow {
  const cells = line.split('\t') as [string, string, string, string, string] & string[];
  const [sourceId, artifactId, sequence, generation, sandbox] = cells;
  const [metric, labels, newestFirst, value, record] = cells.slice(5) as typeof cells;
  return {
    ...{ sourceId, artifactId, metric, labels, value, sandbox: sandbox === '1' },
    ...{ sequence: Number(sequence), generation: Number(generation) },
    ...{ day: -Number(newestFirst), record: Number(record) },
  };
}

function sampleOf(row: SampleRow): string {
  return [row.sourceId, row.day, row.metric, row.labels, row.sandbox].join(' ');
}

function byPlace(a: SampleRow, b: SampleRow): number {
  return a.sequence - b.sequence || a.record - b.record;
}

/** As `src/samples/samples.ts` has it. */
function inOrder(a: SampleRow, b: SampleRow): number {
  return (
    b.day - a.day ||
    Buffer.compare(Buffer.from(a.metric), Buffer.from(b.metric)) ||
    Buffer.compare(Buffer.from(a.labels), Buffer.from(b.labels)) ||
    Number(a.sandbox) - Number(b.sandbox)
  );
}

function isLater(a: Current['version'], b: Current['version']): boolean {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at !== -1 && a[at]! > b[at]!;
}
