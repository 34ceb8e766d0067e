import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import type { Catalog } from '../catalog/catalog.ts';
import type { Delivery, Rejection, ShapeVersion } from '../domain/nouns.ts';
import { personalNames } from '../domain/personal.ts';
import type { ParsedDelivery, RowPieces } from '../parse/messages.ts';
import { type ParsePool, startParsePool } from '../parse/pool.ts';
import { inputOf } from '../parse/tasks.ts';
import type { SampleStore } from '../samples/samples.ts';
import {
  type Difference,
  firstRejections,
  GenerationDiff,
  lineCutter,
  parsedRows,
  rejectedRecords,
  SampleDiff,
  storedRow,
} from './generation-diff.ts';
import type { Settings } from './settings.ts';
import { openCommandSamples } from './stores.ts';

/** What a delivery is parsed with and compared with; a command's own, or a service's. */
export interface DryRunTools {
  readonly catalog: Pick<Catalog, 'directory'>;
  readonly samples: Pick<SampleStore, 'generation' | 'rejections'>;
  readonly pool: Pick<ParsePool, 'run'>;
}

/** The shape to parse under, saved or not, and the fields that are personal with it. */
export interface TriedShape {
  readonly shape: Pick<ShapeVersion, 'fields' | 'format'>;
  readonly personalNow: readonly string[];
}

export interface DryRun extends Difference {
  /** Records that would be rejected and are not now. */
  readonly failing: number;
  /** The first of those that would be. */
  readonly rejections: readonly Rejection[];
  /** Null where it was not asked for. */
  readonly samples: { added: number; changed: number; gone: number } | null;
  readonly parsed: ParsedDelivery;
}

/** A delivery could not be tried, or has more samples than were to be looked at. */
export class NotTried extends Error {
  override readonly name = 'NotTried';
  readonly reason: 'unreadable' | 'damaged' | 'too_large' | 'crashed';

  constructor(reason: NotTried['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const rejectionsPage = 10_000;
const rejectionsShown = 5;
/** Rows that are compared before others get their turn on the event loop. */
const rowsAtOnce = 2_000;

/** Parses deliveries in threads of this process, under shapes that are saved. */
export async function dryRunner(settings: Settings, catalog: Catalog) {
  const samples = await openCommandSamples(settings, pino({ level: 'silent' }));
  const pool = startParsePool({ artifactsUrl: settings.artifactsUrl });
  return {
    async run(delivery: Delivery, shapeVersion: number): Promise<DryRun> {
      const { sourceId } = delivery;
      const source = (await catalog.directory.source(sourceId))!;
      const shape = (await catalog.lookup.shape(sourceId, shapeVersion))!;
      const current = (await catalog.lookup.shape(sourceId, source.shapeVersion))!;
      const tried = { shape, personalNow: personalNames(current.fields) };
      return await dryRun({ catalog, samples: samples.store, pool }, delivery, tried);
    },
    async close() {
      await pool.close();
      await samples.close();
    },
  };
}

/**
 * Parses a delivery as a next generation would be, and says how that differs from what stands.
 * Nothing is written.
 *
 * @param rowsMax absent: records are compared, of any number of samples; else the samples too, up
 *   to so many of them and of rejections
 * @throws NotTried
 */
export async function dryRun(
  { catalog, samples, pool }: DryRunTools,
  delivery: Delivery,
  { shape, personalNow }: TriedShape,
  rowsMax?: number,
): Promise<DryRun> {
  const source = (await catalog.directory.source(delivery.sourceId))!;
  const input = inputOf({
    ...{ delivery, generation: delivery.generation, shape, personalNow },
    company: (await catalog.directory.company(source.companyId))!,
    metrics: await catalog.directory.metrics(source.companyId),
  });
  const compared = new Compared(rowsMax);
  const takeRows = async (rows: RowPieces) => {
    await compared.after(rows);
    return !compared.tooMany;
  };
  const { outcomes } = await pool.run({ deliveries: [input] }, takeRows).catch((cause: unknown) => {
    throw new NotTried('crashed', 'the parser crashed or overran its deadline', { cause });
  });
  const outcome = outcomes[0]!;
  if (outcome.kind === 'done') await compared.after(outcome);
  const tooLarge = () => new NotTried('too_large', `more than ${rowsMax} samples or rejections`);
  if (compared.tooMany) throw tooLarge();
  if (outcome.kind !== 'done') throw new NotTried(outcome.kind, outcome.reason);
  await compared.before(samples, delivery);
  if (compared.tooMany) throw tooLarge();
  return { ...(await compared.difference(samples, delivery, outcome)), parsed: outcome };
}

/** What a delivery gave and what it would give, taken in piece by piece. */
class Compared {
  readonly #records = new GenerationDiff();
  readonly #samples: SampleDiff | null;
  readonly #rowsMax: number;
  readonly #rejected = new Set<number>();
  readonly #rejections: Rejection[] = [];
  #rowsAfter = 0;
  #rowsBefore = 0;

  constructor(rowsMax: number | undefined) {
    this.#samples = rowsMax === undefined ? null : new SampleDiff();
    this.#rowsMax = rowsMax ?? Number.POSITIVE_INFINITY;
  }

  get tooMany(): boolean {
    return Math.max(this.#rowsBefore, this.#rowsAfter) > this.#rowsMax;
  }

  async after({ sampleRows, rejectionRows }: RowPieces): Promise<void> {
    const missing = rejectionsShown - this.#rejections.length;
    this.#rejections.push(...firstRejections(rejectionRows, missing));
    for (const record of rejectedRecords(rejectionRows)) {
      this.#rejected.add(record);
      if (await this.#full()) return;
    }
    for (const row of parsedRows(sampleRows)) {
      this.#records.after(row);
      this.#samples?.after(row);
      if (await this.#full()) return;
    }
  }

  async #full(): Promise<boolean> {
    this.#rowsAfter += 1;
    if (this.#rowsAfter % rowsAtOnce === 0) await setImmediate();
    return this.tooMany;
  }

  async before(store: DryRunTools['samples'], delivery: Delivery): Promise<void> {
    this.#rowsBefore = delivery.counts?.rejected ?? 0;
    if (this.tooMany || (delivery.counts?.samples ?? 0) === 0) return;
    const { sourceId, sequence, generation } = delivery;
    const cut = lineCutter();
    for await (const chunk of store.generation({ sourceId, sequence, generation })) {
      for (const line of cut(chunk)) {
        const row = storedRow(line);
        this.#records.before(row);
        this.#samples?.before(row);
        this.#rowsBefore += 1;
        if (this.#rowsBefore % rowsAtOnce === 0) await setImmediate();
        if (this.tooMany) return;
      }
    }
  }

  async difference(store: DryRunTools['samples'], delivery: Delivery, parsed: ParsedDelivery) {
    const failing =
      parsed.refusal === null
        ? await newlyRejected(store, delivery, this.#rejected)
        : (delivery.counts?.parsed ?? 0);
    const samples = this.#samples?.difference() ?? null;
    return { ...this.#records.difference(), failing, samples, rejections: this.#rejections };
  }
}

async function newlyRejected(
  store: DryRunTools['samples'],
  { artifactId, generation, counts }: Delivery,
  after: Set<number>,
): Promise<number> {
  if (!counts?.rejected) return after.size;
  for (let offset = 0; ; offset += rejectionsPage) {
    const page = { artifactId, generation, limit: rejectionsPage, offset };
    const found = await store.rejections(page);
    for (const { record } of found) after.delete(record!);
    if (found.length < rejectionsPage) return after.size;
  }
}
