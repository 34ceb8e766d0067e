import { type CatalogBed, isFinal } from './catalog-bed.ts';
import { heal, healedAt, type Plan, planFaults } from './faults.ts';
import { type Durable, ServiceProcess } from './node.ts';
import { findProblems, readProblems } from './oracle.ts';
import type { World } from './outside.ts';
import { Random } from './random.ts';
import { makeIntents, readRequest } from './requests.ts';
import { SampleRows } from './sample-rows.ts';
import { ask, type Sent, sendAll } from './senders.ts';
import { Objects } from './stores.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

/** 2026-11-20T00:00:00Z. */
export const begin = 1_795_132_800_000;
/** All deliveries are final, and all senders answered, so long after the last fault. */
const liveWithinMs = 40_000;
const sendersCount = 3;
const readPatienceMs = 10_000;

export interface RunResult {
  readonly seed: number;
  /** Of everything that happened: equal for equal runs. */
  readonly hash: string;
  /** What was promised and does not hold; none in a run that passes. */
  readonly problems: readonly string[];
  readonly trace: readonly string[] | null;
  readonly deliveries: number;
  readonly attempts: number;
  readonly kills: number;
  /** Virtual. */
  readonly milliseconds: number;
}

/** One run, all of which the seed decides. Time must not be installed by anybody else. */
export async function simulate(
  catalog: CatalogBed,
  seed: number,
  keepTrace = false,
): Promise<RunResult> {
  catalog.reset();
  const time = new VirtualTime(begin);
  const uninstall = time.install();
  const { stackTraceLimit } = Error;
  // Many errors are made and few are looked at.
  if (!keepTrace) Error.stackTraceLimit = 0;
  try {
    const world = { time, random: new Random(seed), trace: new Trace(keepTrace) };
    return await new Run(seed, world, catalog).result();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    uninstall();
  }
}

class Run {
  readonly #seed: number;
  readonly #world: World;
  readonly #durable: Durable;
  readonly #plan: Plan;
  readonly #nodes: ServiceProcess[] = [];
  readonly #all: ServiceProcess[] = [];
  readonly #sent: Sent[] = [];
  readonly #problems: string[] = [];
  #ended = false;

  constructor(seed: number, world: World, catalog: CatalogBed) {
    this.#seed = seed;
    this.#world = world;
    this.#durable = { catalog, objects: new Objects(), rows: new SampleRows() };
    this.#plan = planFaults(world);
  }

  async result(): Promise<RunResult> {
    const { time, trace } = this.#world;
    const { catalog } = this.#durable;
    for (let n = 0; n < this.#plan.nodes; n++) this.#startNode(n);
    this.#planEvents();
    void this.#wholeRun().catch((error) => {
      this.#problems.push(`the run failed: ${error.stack}`);
      this.#ended = true;
    });
    await time.run(() => this.#ended);
    const milliseconds = time.now;
    for (const node of this.#nodes) node.end();
    await this.#putAway();
    this.#problems.push(
      ...this.#all.flatMap((node) => node.defects),
      ...findProblems(this.#durable, this.#sent),
    );
    for (const one of catalog.deliveries()) trace.add(0, JSON.stringify(one));
    return {
      ...{ seed: this.#seed, hash: trace.hash, problems: this.#problems, trace: trace.lines },
      deliveries: catalog.deliveries().length,
      attempts: this.#sent.reduce((sum, one) => sum + one.statuses.length, 0),
      kills: this.#all.length - this.#plan.nodes,
      milliseconds,
    };
  }

  readonly #serving = () => this.#nodes.filter((node) => node.alive && node.serves);

  #startNode(n: number): void {
    const { time } = this.#world;
    const name = `node ${n}.${this.#all.length}`;
    const node = new ServiceProcess(name, this.#world, this.#durable, this.#plan.weathers);
    this.#nodes[n] = node;
    this.#all.push(node);
    time.after(0, node, () => void node.start().catch(() => {}));
  }

  #planEvents(): void {
    const { time } = this.#world;
    for (const event of this.#plan.events) {
      time.after(event.at, null, () => this.#happen(event));
    }
    for (const at of this.#plan.reparses) time.after(at, null, () => void this.#reparse());
    time.after(healedAt, null, () => heal(this.#plan.weathers));
  }

  #happen(event: Plan['events'][number]): void {
    const { time, trace } = this.#world;
    trace.add(time.now, JSON.stringify(event));
    if ('store' in event) {
      this.#plan.weathers[event.store].down = event.kind === 'down';
      return;
    }
    if (event.kind === 'clock') {
      time.skewMs = event.skewMs;
      return;
    }
    const node = this.#nodes[event.node]!;
    if (!node.alive) return;
    if ('until' in event) {
      node.pausedUntil = event.until;
      return;
    }
    if (event.kind === 'kill') node.kill();
    else time.after(0, node, () => void node.stop().catch(() => {}));
    // A stop that does not end in time is followed by a kill, as supervisors do it.
    time.after(event.backAt - event.at, null, () => {
      if (this.#nodes[event.node] !== node) return;
      node.kill();
      this.#startNode(event.node);
    });
  }

  /** As an operator's command does it, in a process of its own. */
  async #reparse(): Promise<void> {
    const { time, random, trace } = this.#world;
    const { catalog } = this.#durable;
    const settled = catalog.deliveries().filter(isFinal);
    const chosen = settled.filter(() => random.percent(40));
    const want = {
      artifactIds: chosen.map((one) => one.artifactId),
      ...(random.percent(60) ? { shapeVersion: random.pick([1, 2]) } : {}),
    };
    trace.add(time.now, `operator parses again: ${JSON.stringify(want)}`);
    await catalog.call({ area: 'reparses', method: 'begin', args: [want, time.clock] });
  }

  async #wholeRun(): Promise<void> {
    const { time, random } = this.#world;
    const senders = Array.from({ length: sendersCount }, () => random.between(1, 5));
    const intents = makeIntents(random, 3 * sendersCount);
    const manners = {
      patienceMs: random.pick([400, 1_500, 5_000]),
      twicePercent: this.#plan.twicePercent,
    };
    const note = (sent: Sent) => this.#sent.push(sent);
    const sending = senders.map((count) => {
      const own = Array.from({ length: count }, () => random.pick(intents));
      return sendAll(this.#world, this.#serving, own, manners, note);
    });
    let answered = false;
    void Promise.all(sending).then(() => {
      answered = true;
    });
    await Promise.race([this.#read(), time.sleep(healedAt)]);
    const last = Math.max(healedAt, ...this.#plan.reparses);
    await time.sleep(Math.max(0, last + 100 - time.now));
    const end = healedAt + liveWithinMs;
    while (!answered || this.#durable.catalog.waiting() > 0) {
      if (time.now > end) {
        const open = answered ? '' : ' and senders have no answer';
        const { length } = this.#durable.catalog.deliveries().filter((one) => !isFinal(one));
        this.#problems.push(`not live: ${length} deliveries are not final${open}`);
        break;
      }
      await time.sleep(100);
    }
    await time.sleep(this.#plan.lateMs);
    await this.#readAll();
    this.#ended = true;
  }

  /** Readers while it happens: whatever was reported as parsed is in what they see. */
  async #read(): Promise<void> {
    const { time, random } = this.#world;
    for (let n = random.below(4); n > 0; n--) {
      await time.sleep(random.between(200, 2_000));
      const source = random.pick(['push', 'document'] as const);
      const before = this.#durable.catalog.deliveries();
      const asked = readRequest(source);
      const answer = await ask(this.#world, this.#serving, asked, readPatienceMs);
      if (answer?.status !== 200 || this.#plan.reparses.length > 0) continue;
      this.#problems.push(...readProblems(source, before, this.#sent, answer.body, 'at least'));
    }
  }

  async #readAll(): Promise<void> {
    const deliveries = this.#durable.catalog.deliveries();
    for (const node of this.#serving()) {
      for (const source of ['push', 'document', 'webhook'] as const) {
        const answer = await ask(this.#world, () => [node], readRequest(source), readPatienceMs);
        const problems =
          answer?.status === 200
            ? readProblems(source, deliveries, this.#sent, answer.body, 'exactly')
            : [`${node.name} cannot be read: ${answer?.status}`];
        this.#problems.push(...problems);
      }
    }
  }

  /** What the modules of the service still have to put away for processes that are gone. */
  async #putAway(): Promise<void> {
    const { time } = this.#world;
    let done = false;
    time.after(1_000, null, () => {
      done = true;
    });
    await time.run(() => done);
  }
}
