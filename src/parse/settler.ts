import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, Queue, Reparses, SettleTurn } from '../catalog/catalog.ts';
import { limits } from '../domain/limits.ts';
import type { SampleStore } from '../samples/samples.ts';
import type { Clock } from '../std/clock.ts';
import { crashPoint } from '../std/crash-point.ts';
import { Gather } from '../std/gather.ts';

export interface SettlerParts {
  readonly queue: Pick<Queue, 'complete'>;
  readonly reparses: Omit<Reparses, 'begin'>;
  readonly samples: Pick<SampleStore, 'settle' | 'forget'>;
  readonly clock: Clock;
}

/** A delivery whose samples must be found anew; its rows are durable. */
export interface ToSettle {
  readonly sourceId: string;
  readonly sequence: number;
  /** The one that stands from now on. */
  readonly generation: number;
  /** Null: it stands already, only rows that came late are to be settled away. */
  readonly outcome: Outcome | null;
}

const turnPollMs = 100;
/** Others may hold a source for as long as a rebuild takes; a delivery waits in the queue then. */
const turnWaitMs = 5_000;
const triesMax = 5;

/**
 * Settles the samples of deliveries and completes them: a turn in the catalog → one statement in
 * the sample store → complete → the turn ends.
 *
 * Ordering: turns of one source come one after another, over all processes, and each has a higher
 * number than those before. What lost its turn cannot be completed and is settled anew, so that
 * the samples are those of the last turn, whatever a slow process still sends.
 *
 * Failure: a crash after the statement leaves the samples of the new generation readable while the
 * catalog waits for it; the delivery is claimed again and settled again, to the same samples.
 */
export class Settler {
  readonly #parts: SettlerParts;
  readonly #sources = new Map<string, Gather<ToSettle, null>>();
  readonly #turns = new Set<string>();

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  /** Resolves when the samples are settled and the outcome took effect, or its lease was lost. */
  async settle(item: ToSettle): Promise<void> {
    const { sourceId } = item;
    const known = this.#sources.get(sourceId);
    // Deliveries of one source that come while a turn is under way share the next.
    const gather = known ?? new Gather((group) => this.#settleAll(sourceId, group));
    this.#sources.set(sourceId, gather);
    await gather.add(item);
  }

  /** Takes the text of withdrawn samples out of the store, where all of them are settled. */
  async forget(): Promise<void> {
    const { reparses, samples } = this.#parts;
    for (const { sourceId, generation } of await reparses.toForget()) {
      await this.#inTurn(sourceId, () => samples.forget({ sourceId, generation }));
      await reparses.forgotten(sourceId, generation);
    }
  }

  /** Turns under way must not run out. */
  async extendTurns(until: number): Promise<void> {
    for (const token of this.#turns) await this.#parts.reparses.extendTurn(token, until);
  }

  async #settleAll(sourceId: string, group: ToSettle[]): Promise<null[]> {
    let left = group;
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === triesMax) throw new Error('the turn to settle was lost again and again');
      left = await this.#inTurn(sourceId, (turn) => this.#settleOnce(sourceId, turn, left));
    }
    return group.map(() => null);
  }

  /** @returns those that must be settled again */
  async #settleOnce(sourceId: string, turn: SettleTurn, group: ToSettle[]): Promise<ToSettle[]> {
    const { queue, samples, clock } = this.#parts;
    await samples.settle({
      sourceId,
      number: turn.number,
      reparsedUpTo: turn.reparsedUpTo,
      deliveries: group.map(({ sequence, generation }) => ({ sequence, generation })),
    });
    crashPoint('settled');
    const outcomes = group.flatMap(({ outcome }) => (outcome === null ? [] : [outcome]));
    const inTurn = outcomes.map((outcome) => ({ ...outcome, turn: turn.token }));
    const { unsettled } = await queue.complete(inTurn, clock());
    const again = new Set(unsettled);
    return group.filter(({ outcome }) => outcome !== null && again.has(outcome.artifactId));
  }

  async #inTurn<T>(sourceId: string, work: (turn: SettleTurn) => Promise<T>): Promise<T> {
    const { reparses } = this.#parts;
    const turn = await this.#takeTurn(sourceId);
    this.#turns.add(turn.token);
    try {
      return await work(turn);
    } finally {
      this.#turns.delete(turn.token);
      await reparses.endTurn(turn.token);
    }
  }

  async #takeTurn(sourceId: string): Promise<SettleTurn> {
    const { reparses, clock } = this.#parts;
    for (let waited = 0; waited <= turnWaitMs; waited += turnPollMs) {
      const want = { sourceId, leaseMs: limits.parseLeaseMs, now: clock() };
      const turn = await reparses.takeTurn(want);
      if (turn) return turn;
      await sleep(turnPollMs);
    }
    throw new Error('the samples of the source are being settled by somebody else');
  }
}
