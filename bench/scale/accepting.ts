import { limits } from '../../src/domain/limits.ts';
import type { Costs } from './costs.ts';
import { Workers } from './events.ts';
import { costOf } from './fit.ts';
import { waitForNext } from './random.ts';
import { committedAt, doneAt, type World, workedAt } from './simulated-world.ts';

type Stored = (pushes: number, documents: number) => void;

/**
 * An accepting process of the simulation: deliveries come by chance, take the loop one after the
 * other, and wait for a segment (`accept/segments.ts`) and for a group (`catalog/ledger.ts`) by
 * the rules of `std/gather.ts`: one under way, the next one with all that waits by then.
 */
export class Accepting {
  readonly #world: World;
  readonly #perMs: number;
  readonly #stored: Stored;
  readonly #loop = new Workers(1);
  /** When each came that waits for a segment, and that waits for a group; documents are below 0. */
  #toSegment: number[] = [];
  #toGroup: number[] = [];
  #segmentUnderWay = false;
  #groupUnderWay = false;
  #inGroup = 0;
  /** The next segment is held for so many; 0: it is not held. */
  #heldFor = 0;
  #holds = 0;
  #nextCome = 0;
  receipts = 0;
  latencyMs = 0;
  segments = 0;
  bodies = 0;
  groups = 0;

  constructor(world: World, perMs: number, stored: Stored) {
    this.#world = world;
    this.#perMs = perMs;
    this.#stored = stored;
  }

  /** What has come and is not durable yet; those that the loop has not got to count too. */
  get waitsToAccept(): number {
    const behind = (this.#world.events.now - this.#nextCome) * this.#perMs;
    return Math.max(0, behind) + this.#toSegment.length;
  }

  get waitsForLedger(): number {
    return this.#toGroup.length + this.#inGroup;
  }

  start(): void {
    this.#comes();
  }

  #comes(): void {
    const { events, random, question, cores } = this.#world;
    const { costs, workload } = question;
    this.#nextCome += waitForNext(random, this.#perMs);
    const came = this.#nextCome;
    const isDocument = random() < workload.documentShare;
    events.call(Math.max(came, events.now), () => {
      const us = isDocument ? costs.acceptDocument.loopUs : costs.acceptLoopUs.perUnit;
      // Nobody waits for what other threads and Redis do beside, but it takes cores.
      cores.accept?.take(events.now, besideUs(costs, isDocument) / 1_000);
      const done = workedAt(this.#world, this.#loop, cores.accept, us);
      events.call(done, () => {
        if (isDocument) this.#document(came);
        else this.#push(came);
        this.#comes();
      });
    });
  }

  #document(came: number): void {
    const { costs } = this.#world.question;
    const ms = costOf(costs.putMs, costs.documentBytes);
    const at = doneAt(
      this.#world,
      this.#world.cores.store,
      ms,
      costOf(costs.putCpuUs, costs.documentBytes),
    );
    this.#world.events.call(at, () => this.#claim([-came]));
  }

  #push(came: number): void {
    this.#toSegment.push(came);
    if (this.#segmentUnderWay) return;
    if (this.#heldFor === 0 || this.#toSegment.length >= this.#heldFor) this.#sendSegment();
  }

  #sendSegment(): void {
    const { question, events, cores } = this.#world;
    const { costs } = question;
    const max = Math.min(
      limits.segmentBodiesMax,
      Math.floor(limits.segmentBytesMax / costs.pushBytes),
    );
    this.#heldFor = 0;
    this.#holds += 1;
    const bodies = this.#toSegment.splice(0, max);
    const bytes = bodies.length * costs.pushBytes;
    this.#segmentUnderWay = true;
    const began = events.now;
    const sent = workedAt(this.#world, this.#loop, cores.accept, costs.acceptLoopUs.each);
    events.call(sent, () => {
      const cpuUs = costOf(costs.putCpuUs, bytes);
      const at = doneAt(this.#world, cores.store, costOf(costs.putMs, bytes), cpuUs);
      events.call(at, () => {
        this.segments += 1;
        this.bodies += bodies.length;
        this.#claim(bodies);
        this.#segmentUnderWay = false;
        this.#afterSegment(bodies.length, events.now - began);
      });
    });
  }

  /** The next segment is held for those who were answered: who came by chance comes again so. */
  #afterSegment(answered: number, tookMs: number): void {
    const { share, msMax } = limits.segmentPatience;
    const wanted = answered + this.#toSegment.length;
    if (answered > 1) {
      this.#heldFor = wanted;
      const hold = this.#holds;
      const { events } = this.#world;
      events.call(events.now + Math.min(share * tookMs, msMax), () => {
        if (this.#holds !== hold || this.#segmentUnderWay) return;
        this.#heldFor = 0;
        if (this.#toSegment.length > 0) this.#sendSegment();
      });
    } else if (this.#toSegment.length > 0) {
      this.#sendSegment();
    }
  }

  #claim(bodies: readonly number[]): void {
    for (const body of bodies) this.#toGroup.push(body);
    if (!this.#groupUnderWay) this.#sendGroup();
  }

  #sendGroup(): void {
    const { events } = this.#world;
    const group = this.#toGroup.splice(0, limits.ledgerGroupMax);
    this.#groupUnderWay = true;
    this.#inGroup = group.length;
    events.call(committedAt(this.#world, group.length), () => {
      this.#groupUnderWay = false;
      this.#inGroup = 0;
      this.groups += 1;
      this.receipts += group.length;
      let documents = 0;
      for (const came of group) {
        this.latencyMs += events.now - Math.abs(came);
        if (came < 0) documents += 1;
      }
      this.#stored(group.length - documents, documents);
      if (this.#toGroup.length > 0) this.#sendGroup();
    });
  }
}

function besideUs(costs: Costs, isDocument: boolean): number {
  const { acceptDocument, acceptAllUs, acceptLoopUs, redisUs } = costs;
  if (isDocument) return acceptDocument.allUs - acceptDocument.loopUs + redisUs;
  return Math.max(0, acceptAllUs.perUnit - acceptLoopUs.perUnit) + redisUs;
}
