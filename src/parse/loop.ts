import type { Job, Outcome, Queue, Reparses } from '../catalog/catalog.ts';
import { limits } from '../domain/limits.ts';
import type { SampleStore } from '../samples/samples.ts';
import { assert } from '../std/assert.ts';
import { type Clock, monotonicClock } from '../std/clock.ts';
import { crashPoint } from '../std/crash-point.ts';
import { Gather } from '../std/gather.ts';
import { untilDone } from '../std/retry.ts';
import { HandedInserts, insertRows, type RowTaker } from './inserts.ts';
import { type ParseOutcome, parserVersion } from './messages.ts';
import type { ParsePool } from './pool.ts';
import { Settler } from './settler.ts';
import { inputOf, tasksOf } from './tasks.ts';
import { Turns } from './turns.ts';

export interface LoopParts {
  readonly queue: Queue;
  readonly reparses: Omit<Reparses, 'begin'>;
  readonly samples: Pick<SampleStore, 'settle' | 'forget'>;
  readonly pool: ParsePool;
  readonly rows: RowTaker;
  readonly clock: Clock;
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

const pollMs = 1_000;
/** Withdrawn samples are unreadable long before; their text goes as soon as all are settled. */
const forgetMs = 2_000;

/**
 * Turns stored deliveries into samples: claim → parse in a thread → rows durable → complete.
 *
 * States of a delivery in here: `claimed` (its lease is extended until it leaves) → `parsed`
 * (rows wait for their insert) → `completed`, or `released` when a store is away, or `crashed`
 * when its thread died.
 *
 * Ordering: rows are durable and readable before the catalog says `parsed`. A crash in between
 * parses the delivery again; its rows carry the same versions, so nothing doubles. Rows of a
 * generation above 0 are kept apart until all are durable, and are then settled (`settler.ts`); so
 * are those of a first parse that comes after a later delivery was parsed again. Of a delivery with
 * very many rows, some are inserted while it is read a second time (`inserts.ts`).
 *
 * Failure: whatever a store does puts the delivery back with a growing wait, without end. Only a
 * thread that dies over one delivery alone counts against it.
 */
export class ParseLoop {
  readonly #parts: LoopParts;
  readonly #finals: Gather<Outcome, Final>;
  readonly #settler: Settler;
  /** Of tasks, as many at once as there are threads. */
  readonly #turns: Turns;
  /** By job, not by token: deliveries that were claimed together share one. */
  readonly #inFlight = new Set<Job>();
  #bytesInFlight = 0;
  #stopped = false;
  readonly #stopping = new AbortController();
  #claiming = false;
  #wanted = false;
  #notBefore = 0;
  #poll: NodeJS.Timeout | null = null;
  #extend: NodeJS.Timeout | null = null;
  #forget: NodeJS.Timeout | null = null;
  #forgetting: Promise<void> | null = null;
  #idle: (() => void)[] = [];

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#settler = new Settler(parts);
    this.#turns = new Turns(parts.pool.threads);
    this.#finals = new Gather<Outcome, Final>(async (outcomes) => {
      const { unsettled, outdated } = await parts.queue.complete(outcomes, parts.clock());
      const late = new Map(outdated.map((one) => [one.artifactId, one.generation]));
      const waiting = new Set(unsettled);
      return outcomes.map(({ artifactId }) => ({
        unsettled: waiting.has(artifactId),
        outdatedBy: late.get(artifactId) ?? null,
      }));
    });
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), pollMs);
    this.#extend = setInterval(() => void this.#extendLeases(), limits.parseLeaseMs / 3);
    this.#forget = setInterval(() => void this.#forgetWithdrawn(), forgetMs);
    this.wake();
  }

  /** There may be something to claim. Cheap; called with every stored delivery. */
  wake(): void {
    this.#wanted = true;
    if (!this.#claiming && !this.#stopped) void this.#claim();
  }

  /** Claims nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.abort();
    if (this.#poll) clearInterval(this.#poll);
    if (this.#forget) clearInterval(this.#forget);
    if (this.#claiming || this.#inFlight.size > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    await this.#forgetting;
    if (this.#extend) clearInterval(this.#extend);
  }

  async #claim(): Promise<void> {
    const { queue, clock, log } = this.#parts;
    this.#claiming = true;
    try {
      while (this.#wanted && !this.#stopped && this.#hasRoom() && this.#mayClaim()) {
        this.#wanted = false;
        const jobs = await queue.claim({
          limit: Math.min(limits.parseClaimMax, limits.parseHeldMax - this.#inFlight.size),
          bytesMax: limits.parseHeldBytesMax - this.#bytesInFlight,
          leaseMs: limits.parseLeaseMs,
          now: clock(),
        });
        if (jobs.length > 0) {
          crashPoint('claimed');
          this.#wanted = true;
        }
        for (const job of jobs) this.#enter(job);
        for (const job of jobs) if (job.refusal !== null) void this.#settle(job, refused(job));
        const toParse = jobs.filter((job) => job.refusal === null);
        for (const task of tasksOf(toParse)) void this.#work(task);
      }
    } catch (err) {
      log.error({ err }, 'no delivery could be claimed');
    } finally {
      this.#claiming = false;
      this.#tellIdle();
    }
  }

  /** A store failed just now. By the clock of the process: the system's may be set back. */
  #mayClaim(): boolean {
    return monotonicClock() >= this.#notBefore;
  }

  /** Half of what fits is free: many claims of one delivery each would cost more than they save. */
  #hasRoom(): boolean {
    return (
      this.#inFlight.size <= limits.parseHeldMax / 2 &&
      this.#bytesInFlight <= limits.parseHeldBytesMax / 2
    );
  }

  #enter(job: Job): void {
    this.#inFlight.add(job);
    this.#bytesInFlight += job.delivery.bytes;
  }

  #leave(job: Job): void {
    if (!this.#inFlight.delete(job)) return;
    this.#bytesInFlight -= job.delivery.bytes;
    if (this.#hasRoom()) this.wake();
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#claiming || this.#inFlight.size > 0) return;
    for (const tell of this.#idle.splice(0)) tell();
  }

  async #work(jobs: readonly Job[]): Promise<void> {
    const handed = new HandedInserts(jobs, this.#parts.rows);
    try {
      const { settled } = await this.#turns.run(async () => {
        // Not before its turn, and the turn ends when the rows count as held: so few are held.
        await this.#parts.rows.room();
        const task = { deliveries: jobs.map(inputOf) };
        const { outcomes } = await this.#parts.pool.run(task, (rows) => handed.take(rows));
        assert(outcomes.length === jobs.length, 'one outcome for each delivery');
        crashPoint('parsed');
        return { settled: jobs.map((job, i) => this.#settle(job, outcomes[i]!, handed.of(job))) };
      });
      await Promise.all(settled);
    } catch (err) {
      // Its body was read to its end: whatever happened then, it can be parsed.
      const [job] = jobs;
      if (jobs.length === 1 && handed.has(job!)) await this.#putBack(job!, err);
      else await this.#threadDied(jobs, err);
    }
  }

  /**
   * Never rejects: a delivery that cannot be settled goes back to the queue.
   *
   * @param handed rows of it that were inserted while it was parsed
   */
  async #settle(
    job: Job,
    outcome: ParseOutcome,
    handed: Promise<void> | null = null,
  ): Promise<void> {
    try {
      if (handed !== null) await handed;
      if (outcome.kind === 'damaged') return await this.#damaged(job, outcome.reason);
      if (outcome.kind === 'unreadable') throw new Error(outcome.reason);
      await insertRows(job, outcome, this.#parts.rows);
      crashPoint(job.generation > 0 ? 'generation_inserted' : 'inserted');
      await this.#complete(job, {
        artifactId: job.artifactId,
        token: job.token,
        generation: job.generation,
        turn: null,
        status: outcome.status,
        counts: outcome.counts,
        refusal: outcome.refusal,
        undeclaredFields: outcome.undeclaredFields,
        parserVersion,
      });
      crashPoint('completed');
      this.#leave(job);
    } catch (err) {
      await this.#putBack(job, err);
    }
  }

  async #complete(job: Job, outcome: Outcome): Promise<void> {
    const { sourceId, sequence } = job.delivery;
    const toSettle = { sourceId, sequence, generation: job.generation, outcome };
    if (job.generation > 0) return this.#settler.settle(toSettle);
    const { unsettled, outdatedBy } = await this.#finals.add(outcome);
    if (unsettled) return this.#settler.settle(toSettle);
    if (outdatedBy !== null) return this.#settleLate(job, outdatedBy);
  }

  /** This process was so slow that a later generation stands: what it inserted is settled away. */
  async #settleLate(job: Job, generation: number): Promise<void> {
    const { sourceId, sequence } = job.delivery;
    const late = { sourceId, sequence, generation, outcome: null };
    // Nobody else knows of these rows: a failure here is not put back to the queue.
    await untilDone(() => this.#settler.settle(late), {
      waitMs: waitMs(0),
      waitMaxMs: waitMs(waitsMax),
      signal: this.#stopping.signal,
      told: (err) =>
        this.#parts.log.warn({ err, artifactId: job.artifactId }, 'late rows are still there'),
    });
  }

  /**
   * Nothing is parsed but what was accepted: it waits until somebody has mended the store. A read
   * that was damaged on its way is good the next time.
   */
  async #damaged(job: Job, reason: string): Promise<void> {
    const { clock, log } = this.#parts;
    log.error({ reason, artifactId: job.artifactId }, 'the stored bytes of a delivery are damaged');
    await this.#release(job, clock() + waitMs(job.failures));
  }

  async #putBack(job: Job, err: unknown): Promise<void> {
    const { clock, log } = this.#parts;
    log.warn({ err, artifactId: job.artifactId }, 'a delivery goes back to the queue');
    this.#notBefore = monotonicClock() + waitMs(0);
    await this.#release(job, clock() + waitMs(job.failures));
  }

  async #release(job: Job, notBefore: number): Promise<void> {
    const { queue, log } = this.#parts;
    try {
      const [late] = await queue.release([job], notBefore);
      if (late) await this.#settleLate(job, late.generation);
    } catch (releaseError) {
      // Its lease runs out and it is claimed again.
      log.error({ err: releaseError, artifactId: job.artifactId }, 'a lease could not be returned');
    }
    this.#leave(job);
  }

  /** Of several deliveries in one task, each is tried alone: only the one at fault is charged. */
  async #threadDied(jobs: readonly Job[], err: unknown): Promise<void> {
    const { queue, clock, log } = this.#parts;
    const [job] = jobs;
    // A stop ends the threads, whatever they are at.
    if (this.#stopped) {
      await Promise.all(jobs.map((one) => this.#putBack(one, err)));
      return;
    }
    if (jobs.length > 1) {
      for (const one of jobs) await this.#work([one]);
      return;
    }
    log.error({ err, artifactId: job!.artifactId }, 'a parser crashed');
    try {
      await queue.crashed(job!, clock());
    } catch (crashError) {
      log.error({ err: crashError, artifactId: job!.artifactId }, 'a crash could not be recorded');
    }
    this.#leave(job!);
  }

  /** One after another: it may take long where there is much. */
  #forgetWithdrawn(): Promise<void> {
    this.#forgetting ??= this.#settler
      .forget()
      .catch((err) => {
        this.#parts.log.warn({ err }, 'withdrawn samples are not forgotten yet');
      })
      .finally(() => {
        this.#forgetting = null;
      });
    return this.#forgetting;
  }

  async #extendLeases(): Promise<void> {
    if (this.#inFlight.size === 0) return;
    const until = this.#parts.clock() + limits.parseLeaseMs;
    try {
      await this.#parts.queue.extend([...this.#inFlight], until);
      await this.#settler.extendTurns(until);
    } catch (err) {
      this.#parts.log.warn({ err }, 'leases could not be extended');
    }
  }
}

/** What the catalog said to the outcome of a first parse. */
interface Final {
  readonly unsettled: boolean;
  readonly outdatedBy: number | null;
}

/** There is nothing to parse: the generation is a refusal. */
function refused({ refusal }: Job): ParseOutcome {
  return {
    kind: 'done',
    status: 'rejected',
    counts: { records: 0, parsed: 0, rejected: 0, samples: 0, blank: 0, supersededWithin: 0 },
    refusal,
    valuesSeen: 0,
    undeclaredFields: [],
    sampleRows: [],
    sampleRowCount: 0,
    rejectionRows: [],
    rejectionRowCount: 0,
  };
}

/** How many failures make the longest wait. */
const waitsMax = 10;

const waitMsMax = 60_000;
assert(waitMsMax < limits.queueAheadMsMax, 'what is put off is not taken for what a clock put off');

/** Half a second, doubling, at most a minute. */
function waitMs(failures: number): number {
  return Math.min(500 * 2 ** Math.min(failures, waitsMax), waitMsMax);
}
