import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ClickHouseAddress } from '../address.ts';
import { readAddress } from './files.ts';
import type { EngineMessage, EngineOptions } from './messages.ts';

export interface EngineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface SupervisorOptions extends EngineOptions {
  readonly log: EngineLog;
}

/** A running engine; restarted when it dies, until `stop`. */
export interface Engine {
  /** Stays the same over restarts. */
  readonly address: ClickHouseAddress;
  /** Of the process now running; null between two. */
  pid(): number | null;
  /** How often it was started again since the first start. */
  restarts(): number;
  /** Ends the engine. Whatever an insert was answered for is on the disk already. */
  stop(): Promise<void>;
}

/** The wait before a restart doubles from the first to the last of these. */
const restartWaitMs = { first: 100, last: 5_000 };

/** An engine that lived so long is restarted at once again. */
const steadyAfterMs = 30_000;

/** Engines that the first start tries at most, while each is killed before it is ready. */
const firstStartsMax = 5;

/** Opening takes under a second on a small store; a large one loads its parts first. */
const readyWaitMs = 120_000;

/**
 * Starts the embedded engine on a data directory and keeps it running.
 *
 * Resolves when it answers. It ends with this process, however this process ends.
 *
 * @throws Error with one plain sentence when it cannot start: another engine has the directory
 */
export async function startEngine(options: SupervisorOptions): Promise<Engine> {
  const supervisor = new Supervisor(options);
  const address = await supervisor.first();
  return {
    address,
    pid: () => supervisor.pid(),
    restarts: () => supervisor.restarts,
    stop: () => supervisor.stop(),
  };
}

/**
 * The address of the engine that another process runs on a data directory.
 *
 * @throws Error when none ever ran there; that it runs now shows only when it is asked
 */
export function openEngineAddress(dataDir: string): ClickHouseAddress {
  const address = readAddress(dataDir);
  if (address === null) {
    throw new Error(`no engine has run on ${dataDir}: start weir serve on it`);
  }
  return address;
}

/**
 * States: starting (a child, not ready) → running (a child, ready) → waiting (no child, a timer)
 * → starting; from each of them → stopped, for good.
 *
 * `#child` is set in starting and running, `#timer` in waiting only. The first start repeats, some
 * times, only where a signal ended the engine, which says nothing of the directory; any other
 * failure is the caller's. Every later one repeats until it holds.
 */
class Supervisor {
  readonly #options: EngineOptions;
  readonly #log: EngineLog;
  #child: ChildProcess | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  restarts = 0;
  #waitMs = restartWaitMs.first;

  constructor({ log, ...options }: SupervisorOptions) {
    this.#options = options;
    this.#log = log;
  }

  async first(): Promise<ClickHouseAddress> {
    for (let starts = 1; ; starts++) {
      try {
        return await this.#start(this.#options);
      } catch (error) {
        const isLast = this.#stopped || starts === firstStartsMax;
        if (!(error instanceof KilledEarly) || isLast) {
          await this.stop();
          throw error;
        }
        this.#log.warn({ reason: error.message }, 'the engine did not start; starting it again');
        await sleep(restartWaitMs.first);
      }
    }
  }

  pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  #start(options: EngineOptions): Promise<ClickHouseAddress> {
    const child = launch(options);
    this.#child = child;
    this.#forward(child);
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      let ready = false;
      let reason: string | null = null;
      const overdue = setTimeout(() => {
        reason = `the engine was not ready after ${readyWaitMs / 1000} s`;
        child.kill('SIGKILL');
      }, readyWaitMs);
      child.once('error', reject);
      child.on('message', (message: EngineMessage) => {
        if (message.kind === 'failed') {
          reason = message.reason;
          return;
        }
        ready = true;
        clearTimeout(overdue);
        this.#log.info({ pid: child.pid }, 'engine ready');
        resolve(message.address);
      });
      child.once('exit', (code, signal) => {
        clearTimeout(overdue);
        this.#child = null;
        if (!ready) reject(notReady(reason, signal));
        if (this.#stopped) return;
        const ranMs = performance.now() - startedAt;
        if (ready && ranMs >= steadyAfterMs) this.#waitMs = restartWaitMs.first;
        if (ready) this.#restartLater({ code, signal });
      });
    });
  }

  #restartLater(fields: object): void {
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, restartWaitMs.last);
    this.#log.warn({ ...fields, waitMs }, 'engine ended; starting it again');
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.restarts += 1;
      this.#start(this.#optionsForRestart()).catch((error: Error) => {
        if (!this.#stopped) this.#restartLater({ reason: error.message });
      });
    }, waitMs);
  }

  /** The same place as before: a port that was free then is asked for by its number now. */
  #optionsForRestart(): EngineOptions {
    if (this.#options.listen === undefined) return this.#options;
    return { ...this.#options, listen: new URL(openEngineAddress(this.#options.dataDir).url).host };
  }

  #forward(child: ChildProcess): void {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      const lines = createInterface({ input: stream });
      lines.on('line', (line) => this.#log.warn({ pid: child.pid }, `engine: ${line}`));
    }
  }
}

/** A signal ended the engine before it was ready: somebody's, or one for want of memory. */
class KilledEarly extends Error {
  override readonly name = 'KilledEarly';
}

/** @param reason what is known of the failure */
function notReady(reason: string | null, signal: NodeJS.Signals | null): Error {
  if (reason !== null) return new Error(reason);
  if (signal === null) return new Error('the engine ended before it was ready');
  return new KilledEarly(`the engine was ended by ${signal} before it was ready`);
}

function launch(options: EngineOptions): ChildProcess {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  return fork(main, [JSON.stringify(options)], {
    execPath: process.execPath,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The engine's queries run on libuv's threads; each session needs one.
    env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}
