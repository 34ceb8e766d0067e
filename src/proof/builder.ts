import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Deliveries, DeliveryBasis } from '../catalog/deliveries-contract.ts';
import type { HandedRows, ParseOutcome, RowPieces } from '../parse/messages.ts';
import type { ParsePool } from '../parse/pool.ts';
import { inputOf, tasksOf } from '../parse/tasks.ts';
import { Turns } from '../parse/turns.ts';
import type { StandingGeneration } from '../samples/proof.ts';
import type { EncodedRows } from '../samples/samples.ts';
import { assert } from '../std/assert.ts';
import { damageOf } from '../upkeep/stored-bytes.ts';
import { type BuildJob, planOf } from './build-plan.ts';
import { type Difference, damageText, differenceOf, outcomeProblem } from './difference.ts';
import { patiently } from './patience.ts';

export interface BuildParts {
  readonly deliveries: Pick<Deliveries, 'bases'>;
  readonly artifacts: Pick<ArtifactStore, 'read'>;
  readonly pool: ParsePool;
  readonly rows: RowSink;
  noteGenerations(standing: readonly StandingGeneration[]): Promise<void>;
  /** Called with what is done so far. */
  onProgress(done: { deliveries: number; bytes: number }): void;
}

/** Gathers rows into inserts, as `samples/batcher.ts` does. */
export interface RowSink {
  room(): Promise<void>;
  add(rows: EncodedRows, rowCount: number): Promise<void>;
  close(): Promise<void>;
}

export interface BuildWants {
  /** Absent: every delivery. */
  readonly delivery?: (sequence: number) => boolean;
  /** Also reads the artifacts of deliveries that give nothing yet, or were never to be parsed. */
  readonly everyArtifact: boolean;
}

export interface Built {
  readonly deliveries: number;
  readonly bytes: number;
  readonly records: number;
  /** What cannot be built: its artifact is damaged or missing, or the parser fails on it. */
  readonly broken: readonly Difference[];
  /** What the catalog says otherwise. */
  readonly differences: readonly Difference[];
}

const pageDeliveries = 200;

/** Makes the rows of all deliveries from their artifacts, in accepted order. */
export async function build(parts: BuildParts, wants: BuildWants): Promise<Built> {
  return await new Builder(parts, wants).run();
}

/**
 * Every delivery: its bytes, read and hashed by a thread, and the basis that the catalog keeps of
 * its parse → rows → inserts of many deliveries.
 *
 * Memory is bounded by few tasks at a time, and by the rows that the sink has room for. Tasks do
 * not wait for their inserts; the end does.
 *
 * Failure: a store that is away for long, and whatever is nobody's fault, ends the build. A
 * delivery that cannot be built is named and the build goes on, so that all are named at once.
 */
class Builder {
  readonly #parts: BuildParts;
  readonly #wants: BuildWants;
  readonly #turns: Turns;
  readonly #underWay = new Set<Promise<void>>();
  readonly #broken: Difference[] = [];
  readonly #differences: Difference[] = [];
  #failure: { readonly error: unknown } | null = null;
  #deliveries = 0;
  #bytes = 0;
  #records = 0;

  constructor(parts: BuildParts, wants: BuildWants) {
    this.#parts = parts;
    this.#wants = wants;
    this.#turns = new Turns(parts.pool.threads + 1);
  }

  async run(): Promise<Built> {
    const { deliveries, noteGenerations } = this.#parts;
    for (let after = 0; this.#failure === null; ) {
      const page = await patiently(() => deliveries.bases({ after, limit: pageDeliveries }));
      const last = page.at(-1);
      if (!last) break;
      after = last.delivery.sequence;
      const wanted = page.filter(({ delivery }) => this.#isWanted(delivery.sequence));
      const { generations, jobs, toCheck } = planOf(wanted, this.#wants.everyArtifact);
      await patiently(() => noteGenerations(generations));
      for (const basis of toCheck) await this.#inTurn(() => this.#check(basis));
      for (const task of tasksOf(jobs)) await this.#inTurn(() => this.#work(task));
      this.#done(wanted);
    }
    await Promise.all(this.#underWay);
    if (this.#failure !== null) throw this.#failure.error;
    return {
      ...{ deliveries: this.#deliveries, bytes: this.#bytes, records: this.#records },
      ...{ broken: this.#broken, differences: this.#differences },
    };
  }

  #isWanted(sequence: number): boolean {
    return this.#wants.delivery?.(sequence) ?? true;
  }

  #done(wanted: readonly DeliveryBasis[]): void {
    this.#deliveries += wanted.length;
    this.#bytes += wanted.reduce((sum, { delivery }) => sum + delivery.bytes, 0);
    this.#parts.onProgress({ deliveries: this.#deliveries, bytes: this.#bytes });
  }

  /** Resolves when the work has begun; few works are under way at a time. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    return new Promise((begun) => {
      this.#follow(
        this.#turns.run(async () => {
          begun();
          if (this.#failure === null) await work();
        }),
      );
    });
  }

  /** The first failure ends the build; the others are its consequences. */
  #follow(work: Promise<void>): void {
    const followed = work
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  async #check(basis: DeliveryBasis): Promise<void> {
    const { artifacts } = this.#parts;
    const damage = await patiently(() => damageOf(artifacts, basis.delivery));
    if (damage !== null) this.#broken.push(differenceOf(basis, damageText[damage]));
  }

  async #work(jobs: readonly BuildJob[]): Promise<void> {
    const { pool, rows } = this.#parts;
    await rows.room();
    let outcomes: readonly ParseOutcome[];
    try {
      const task = { deliveries: jobs.map(inputOf) };
      ({ outcomes } = await pool.run(task, (handed) => this.#takeHanded(jobs, handed)));
    } catch (error) {
      await this.#threadDied(jobs, error as Error);
      return;
    }
    assert(outcomes.length === jobs.length, 'one outcome for each delivery');
    const made = new Made();
    for (const [i, job] of jobs.entries()) {
      const outcome = outcomes[i]!;
      if (outcome.kind === 'done') this.#take(job, outcome, made);
      else await this.#unreadable(job, outcome.reason);
    }
    if (made.rowCount > 0) this.#follow(rows.add(made, made.rowCount));
  }

  #take(job: BuildJob, outcome: Extract<ParseOutcome, { kind: 'done' }>, made: Made): void {
    if (job.stands) {
      this.#records += outcome.counts.records;
      const problem = outcomeProblem(job.basis, outcome);
      if (problem !== null) this.#differences.push(differenceOf(job.basis, problem));
    }
    made.add(job, outcome);
  }

  /** Rows of a delivery that has very many; they are there before all of it is made. */
  async #takeHanded(jobs: readonly BuildJob[], handed: HandedRows): Promise<boolean> {
    const { rows } = this.#parts;
    const made = new Made();
    made.add(jobs[handed.delivery]!, handed);
    this.#follow(rows.add(made, made.rowCount));
    await rows.room();
    return this.#failure === null;
  }

  /** Damaged, missing, or the store was away for a moment. */
  async #unreadable(job: BuildJob, reason: string): Promise<void> {
    const { artifacts } = this.#parts;
    const damage = await patiently(() => damageOf(artifacts, job.delivery));
    if (damage !== null) return this.#isBroken(job, damageText[damage]);
    if (job.tries >= triesMax) throw new Error(`${job.artifactId} cannot be read: ${reason}`);
    await this.#work([{ ...job, tries: job.tries + 1 }]);
  }

  async #threadDied(jobs: readonly BuildJob[], error: Error): Promise<void> {
    const [job] = jobs;
    if (jobs.length > 1) for (const one of jobs) await this.#work([one]);
    else this.#isBroken(job!, `the parser fails on it: ${error.message}`);
  }

  /** What does not stand is the service's to judge. */
  #isBroken(job: BuildJob, what: string): void {
    if (job.stands || this.#wants.everyArtifact) this.#broken.push(differenceOf(job.basis, what));
  }
}

/** Rows of some deliveries, on their way to one insert. */
class Made implements EncodedRows {
  readonly samples: Uint8Array[] = [];
  readonly reparsed: Uint8Array[] = [];
  readonly rejections: Uint8Array[] = [];
  rowCount = 0;

  add(job: BuildJob, rows: RowPieces): void {
    // What does not stand yet is kept apart, as the parse loop does it.
    const apart = !job.stands && job.generation > 0;
    (apart ? this.reparsed : this.samples).push(...rows.sampleRows);
    this.rejections.push(...rows.rejectionRows);
    this.rowCount += rows.sampleRowCount + rows.rejectionRowCount;
  }
}

const triesMax = 3;
