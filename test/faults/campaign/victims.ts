import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import {
  childrenOf,
  isCommand,
  type OneProcess,
  runs,
  send,
  stopTree,
  treeOf,
} from './process-tree.ts';

/** A service that is not ready by then, without a fault, never will be. */
const startWaitMs = 120_000;
/** So long what a killed service has started may take to see it. */
const endWaitMs = 30_000;

/** A process that faults are made to. */
export interface Victim {
  readonly name: string;
  readonly kills: number;
  readonly stops: number;
  /** SIGKILL, if it runs; it comes back by itself. */
  kill(): Promise<void>;
  /** SIGSTOP, and SIGCONT after so many milliseconds: resolves then. */
  stop(ms: number): Promise<void>;
  /** Resolves when no fault is left of it. */
  healed(): Promise<void>;
}

/** The service, started again at once whenever it ends, as a service manager does. */
export class ServiceVictim implements Victim {
  readonly name = 'service';
  kills = 0;
  stops = 0;
  /** Ends that nobody made: each with what it said last. */
  readonly selfEnds: string[] = [];
  readonly #weir: RunningWeir;
  #wanted = true;
  #life = { killed: false };
  /** What ran when the service was killed, which has to end by itself. */
  #left: OneProcess[] = [];
  #stopping: Promise<void> = Promise.resolve();
  /** Whether the last start came to be ready. */
  #ready: Promise<boolean> = Promise.resolve(false);

  constructor(weir: RunningWeir) {
    this.#weir = weir;
    this.#start();
  }

  async kill(): Promise<void> {
    if (this.#life.killed) return;
    this.#life.killed = true;
    this.kills += 1;
    if (this.#weir.pid !== null) this.#left.push(...treeOf(this.#weir.pid));
    await this.#weir.end('SIGKILL');
    this.#start();
  }

  stop(ms: number): Promise<void> {
    const { pid } = this.#weir;
    if (pid === null || !send(pid, 'SIGSTOP')) return Promise.resolve();
    this.stops += 1;
    this.#stopping = this.#continueAfter(pid, ms);
    return this.#stopping;
  }

  async #continueAfter(pid: number, ms: number): Promise<void> {
    await sleep(ms);
    // Another process has the number only once this one is gone for good.
    if (this.#weir.pid === pid) send(pid, 'SIGCONT');
  }

  /** Waits until the start under way is ready or ended. */
  ready(): Promise<boolean> {
    return this.#ready;
  }

  async healed(): Promise<void> {
    await this.#stopping;
    for (const until = Date.now() + startWaitMs; !(await this.#ready); await sleep(20)) {
      if (Date.now() < until) continue;
      throw new Error(`the service does not start: ${this.#weir.log.slice(-2_000)}`);
    }
    for (const until = Date.now() + endWaitMs; this.#left.some(runs); await sleep(20)) {
      if (Date.now() < until) continue;
      const pids = this.#left.filter(runs).map((one) => one.pid);
      throw new Error(`processes of a killed service still run: ${pids}`);
    }
    this.#left = [];
  }

  async end(): Promise<void> {
    this.#wanted = false;
    await this.#weir.end('SIGKILL');
  }

  #start(): void {
    if (!this.#wanted) return;
    const life = { killed: false };
    this.#life = life;
    const ready = this.#weir.start().then(
      () => true,
      () => false,
    );
    this.#ready = ready;
    void this.#weir.died().then(async ({ code, signal }) => {
      if (life.killed || !this.#wanted) return;
      this.selfEnds.push(`code ${code}, signal ${signal}: ${this.#weir.log.slice(-500)}`);
      await ready;
      await sleep(200);
      if (this.#life === life) this.#start();
    });
  }
}

const isEngine = (pid: number) => isCommand(pid, '/engine/main.ts');

/** The engine's process, a child of the service's, which starts it again. */
export class EngineVictim implements Victim {
  readonly name = 'engine';
  kills = 0;
  stops = 0;
  readonly #weir: RunningWeir;
  #stopping: Promise<void> = Promise.resolve();

  constructor(weir: RunningWeir) {
    this.#weir = weir;
  }

  async kill(): Promise<void> {
    const pid = this.#pid();
    if (pid !== null && send(pid, 'SIGKILL')) this.kills += 1;
  }

  stop(ms: number): Promise<void> {
    const pid = this.#pid();
    if (pid === null || !send(pid, 'SIGSTOP')) return Promise.resolve();
    this.stops += 1;
    this.#stopping = sleep(ms).then(() => {
      if (isEngine(pid)) send(pid, 'SIGCONT');
    });
    return this.#stopping;
  }

  healed(): Promise<void> {
    return this.#stopping;
  }

  #pid(): number | null {
    const { pid } = this.#weir;
    return pid === null ? null : (childrenOf(pid).find(isEngine) ?? null);
  }
}

/**
 * One of several processes of the service, children of its supervisor, which starts them again.
 *
 * One that stands still cannot see that its supervisor was killed, and would keep its place on the
 * service's addresses. A service manager ends all of the group; here it goes on then, and ends.
 */
export class ProcessVictim implements Victim {
  readonly name = 'process';
  kills = 0;
  stops = 0;
  readonly #weir: RunningWeir;
  readonly #count: number;
  #stopping: Promise<unknown> = Promise.resolve();

  /** @param count how many processes the service has */
  constructor(weir: RunningWeir, count: number) {
    this.#weir = weir;
    this.#count = count;
  }

  async kill(): Promise<void> {
    const pid = this.#next();
    if (pid !== null && send(pid, 'SIGKILL')) this.kills += 1;
  }

  stop(ms: number): Promise<void> {
    const supervisor = this.#weir.pid;
    const pid = this.#next();
    const goOn = pid === null ? null : stopTree(pid);
    if (goOn === null) return Promise.resolve();
    this.stops += 1;
    const stopping = this.#wait(ms, supervisor).then(goOn);
    this.#stopping = Promise.all([this.#stopping, stopping]);
    return stopping;
  }

  /** Resolves when all processes run. */
  async healed(): Promise<void> {
    await this.#stopping;
    for (const until = Date.now() + startWaitMs; this.#pids().length < this.#count; ) {
      if (Date.now() > until) throw new Error('a process of the service does not come back');
      await sleep(20);
    }
  }

  async #wait(ms: number, supervisor: number | null): Promise<void> {
    for (const until = Date.now() + ms; Date.now() < until; await sleep(10)) {
      if (this.#weir.pid !== supervisor) return;
    }
  }

  /** In turns. */
  #next(): number | null {
    const pids = this.#pids();
    return pids[(this.kills + this.stops) % pids.length] ?? null;
  }

  #pids(): number[] {
    const { pid } = this.#weir;
    if (pid === null) return [];
    return childrenOf(pid).filter((child) => isCommand(child, '/processes/process.ts'));
  }
}

/** A server that the service needs, with all its processes; started again at once. */
export interface VictimServer {
  pid(): number;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

export class ServerVictim implements Victim {
  readonly name: string;
  kills = 0;
  stops = 0;
  readonly #server: VictimServer;
  #back: Promise<void> = Promise.resolve();
  #stopping: Promise<void> = Promise.resolve();
  #isAway = false;

  constructor(name: string, server: VictimServer) {
    this.name = name;
    this.#server = server;
  }

  async kill(): Promise<void> {
    if (this.#isAway) return;
    this.#isAway = true;
    this.kills += 1;
    await this.#server.kill();
    this.#back = this.#restart();
    this.#back.catch(() => {}); // Told by `healed`.
  }

  stop(ms: number): Promise<void> {
    const goOn = this.#isAway ? null : stopTree(this.#server.pid());
    if (goOn === null) return Promise.resolve();
    this.stops += 1;
    this.#stopping = Promise.all([this.#stopping, sleep(ms)]).then(goOn);
    return this.#stopping;
  }

  async healed(): Promise<void> {
    await this.#stopping;
    await this.#back;
  }

  async #restart(): Promise<void> {
    await this.#server.restart();
    this.#isAway = false;
  }
}
