import { limits } from '../../src/domain/limits.ts';
import { Workers } from './events.ts';
import { costOf } from './fit.ts';
import { planMs } from './model.ts';
import { doneAt, type World, workedAt } from './simulated-world.ts';

/** Deliveries that travel together through a parsing process. */
interface Batch {
  readonly pushes: number;
  readonly documents: number;
}

/** Small deliveries of one task (`parse/tasks.ts`). */
const taskMax = 200;

/** The queue of the catalog and the processes that claim from it (`parse/loop.ts`). */
export class Parsing {
  readonly #processes: readonly Parser[];
  #pushes = 0;
  #documents = 0;
  #next = 0;
  parsed = 0;

  constructor(world: World) {
    this.#processes = Array.from({ length: world.question.site.parseProcesses }, () => {
      return new Parser(world, this);
    });
  }

  get waiting(): number {
    const held = this.#processes.reduce((sum, one) => sum + one.held, 0);
    return this.#pushes + this.#documents + held;
  }

  stored(pushes: number, documents: number): void {
    this.#pushes += pushes;
    this.#documents += documents;
    // All are told; who asks first is nobody's merit.
    this.#next = (this.#next + 1) % this.#processes.length;
    for (let i = 0; i < this.#processes.length && this.#pushes + this.#documents > 0; i++) {
      this.#processes[(this.#next + i) % this.#processes.length]!.wake();
    }
  }

  take(limit: number): Batch {
    const documents = Math.min(this.#documents, limit);
    const pushes = Math.min(this.#pushes, limit - documents);
    this.#documents -= documents;
    this.#pushes -= pushes;
    return { pushes, documents };
  }
}

/** One process: claims, tasks for its threads, one insert under way, completion. */
class Parser {
  readonly #world: World;
  readonly #queue: Parsing;
  readonly #loop = new Workers(1);
  readonly #threads: Workers;
  /** One of each under way. */
  readonly #claims = new Workers(1);
  readonly #completions = new Workers(1);
  #claiming = false;
  #toInsert: Batch[] = [];
  #rows = 0;
  #oldest = 0;
  #leftAt = -1e9;
  #inserting = false;
  /** When it will be looked whether an insert is due. */
  #timer = -1e9;
  held = 0;

  constructor(world: World, queue: Parsing) {
    this.#world = world;
    this.#queue = queue;
    this.#threads = new Workers(world.question.site.parseThreads);
  }

  wake(): void {
    if (this.#claiming || this.held > limits.parseHeldMax / 2) return;
    const limit = Math.min(limits.parseClaimMax, limits.parseHeldMax - this.held);
    const { pushes, documents } = this.#queue.take(limit);
    const count = pushes + documents;
    if (count === 0) return;
    this.held += count;
    const { events, question } = this.#world;
    const { costs } = question;
    const { parsePush, parseDocument } = costs;
    const planUs = planMs(question) * 1_000;
    const catalogUs =
      planUs + (pushes * parsePush.catalogUs + documents * parseDocument.catalogUs) / 2;
    const loopUs = pushes * parsePush.loopUs + documents * parseDocument.loopUs;
    this.#claiming = true;
    const claimed = workedAt(this.#world, this.#claims, this.#world.cores.postgres, catalogUs);
    events.call(claimed, () => {
      this.#claiming = false;
      this.wake();
      const handed = workedAt(this.#world, this.#loop, this.#world.cores.parse, loopUs);
      events.call(handed, () => {
        for (let left = pushes; left > 0; left -= taskMax) {
          this.#work({ pushes: Math.min(left, taskMax), documents: 0 });
        }
        for (let i = 0; i < documents; i++) this.#work({ pushes: 0, documents: 1 });
      });
    });
  }

  #work(task: Batch): void {
    const { events, question, cores } = this.#world;
    const { parsePush, parseDocument } = question.costs;
    const us = task.pushes * parsePush.threadUs + task.documents * parseDocument.threadUs;
    const readUs = task.pushes * parsePush.readUs + task.documents * parseDocument.readUs;
    events.call(doneAt(this.#world, cores.store, 0, readUs), () => {
      const done = workedAt(this.#world, this.#threads, cores.parse, us);
      events.call(done, () => this.#insert(task));
    });
  }

  #insert(task: Batch): void {
    const { parsePush, parseDocument } = this.#world.question.costs;
    if (this.#toInsert.length === 0) this.#oldest = this.#world.events.now;
    this.#toInsert.push(task);
    this.#rows += task.pushes * parsePush.samples + task.documents * parseDocument.samples;
    this.#proceed();
  }

  /** As `samples/batcher.ts` has it. */
  #proceed(): void {
    const { events } = this.#world;
    if (this.#inserting || this.#toInsert.length === 0) return;
    const due = Math.max(this.#oldest + limits.insertWaitMs, this.#leftAt + limits.insertSpacingMs);
    if (this.#rows < limits.insertRowsWorth && events.now < due) {
      if (this.#timer >= due) return;
      this.#timer = due;
      events.call(due, () => this.#proceed());
      return;
    }
    this.#send();
  }

  #send(): void {
    const { events, question, cores } = this.#world;
    const { costs, site } = question;
    const [tasks, rows] = [this.#toInsert, this.#rows];
    this.#toInsert = [];
    this.#rows = 0;
    this.#leftAt = events.now;
    this.#inserting = true;
    const { each } = costs.insertCpuUs;
    // Each node makes a part of the rows of its sources, at the same time.
    for (let node = 1; node < site.engineNodes; node++)
      cores.engine?.take(events.now, each / 1_000);
    const us = costOf(costs.insertCpuUs, rows);
    const inserted = doneAt(this.#world, cores.engine, costOf(costs.insertMs, rows), us);
    events.call(inserted, () => {
      this.#inserting = false;
      this.#proceed();
      const pushes = tasks.reduce((sum, task) => sum + task.pushes, 0);
      const documents = tasks.reduce((sum, task) => sum + task.documents, 0);
      const { parsePush, parseDocument } = costs;
      const us = (pushes * parsePush.catalogUs + documents * parseDocument.catalogUs) / 2;
      events.call(workedAt(this.#world, this.#completions, cores.postgres, us), () => {
        this.held -= pushes + documents;
        this.#queue.parsed += pushes + documents;
        this.wake();
      });
    });
  }
}
