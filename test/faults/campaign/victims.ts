import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import type { Minio } from '../../support/minio.ts';

/** A service that is not ready by then, without a fault, never will be. */
const startWaitMs = 120_000;

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

export class MinioVictim implements Victim {
  readonly name = 'minio';
  kills = 0;
  stops = 0;
  readonly #minio: Minio;
  #back: Promise<void> = Promise.resolve();
  #stopping: Promise<void> = Promise.resolve();
  #isAway = false;

  constructor(minio: Minio) {
    this.#minio = minio;
  }

  async kill(): Promise<void> {
    if (this.#isAway) return;
    this.#isAway = true;
    this.kills += 1;
    await this.#minio.kill();
    this.#back = this.#restart();
    this.#back.catch(() => {}); // Told by `healed`.
  }

  stop(ms: number): Promise<void> {
    if (this.#isAway || !send(this.#minio.pid(), 'SIGSTOP')) return Promise.resolve();
    this.stops += 1;
    this.#stopping = sleep(ms).then(() => this.#minio.resume());
    return this.#stopping;
  }

  async healed(): Promise<void> {
    await this.#stopping;
    await this.#back;
  }

  async #restart(): Promise<void> {
    await this.#minio.restart();
    this.#isAway = false;
  }
}

/** @returns false when there is no such process any more */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function childrenOf(pid: number): number[] {
  const text = readOf(`/proc/${pid}/task/${pid}/children`);
  return text.split(' ').filter(Boolean).map(Number);
}

function isEngine(pid: number): boolean {
  return readOf(`/proc/${pid}/cmdline`).includes('/engine/main.ts');
}

/** Empty when the process is gone. */
function readOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}
