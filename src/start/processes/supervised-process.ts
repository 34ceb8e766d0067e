import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { FromProcess, ProcessOptions, Told, ToProcess } from './messages.ts';
import { Questions } from './questions.ts';

/** The wait before a restart doubles from the first to the last of these. */
const restartWaitMs = { first: 100, last: 5_000 };
/** A process that lived so long is started at once again. */
const steadyAfterMs = 30_000;
/** Counting a long backlog takes a while. */
const toldWaitMs = 5_000;
/** Longer than a process takes for its answers under way, of both listeners, and its parsing. */
const stopWaitMs = 30_000;

export interface ProcessParts {
  /** From 1. */
  readonly number: number;
  readonly log: Logger;
  /** A message that is no answer. */
  onMessage(message: FromProcess, answer: (message: ToProcess) => void): void;
  /** It ended and will be started again. */
  onEnd(): void;
}

/**
 * One process of the service, started again when it ends.
 *
 * States: starting (a child, not ready) → ready (a child) → waiting (no child, a timer) →
 * starting; from each of them → stopped, for good.
 *
 * `#child` is set in starting and ready, `#timer` in waiting only. What keeps a process from its
 * first start is its caller's to judge; whatever ends it later, or ends it by a signal before, is
 * logged, and it is started again with a growing wait, without end.
 */
export class SupervisedProcess {
  readonly #parts: ProcessParts;
  #options: ProcessOptions | null = null;
  #child: ChildProcess | null = null;
  #isReady = false;
  /** Ever. */
  #wasReady = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  #waitMs = restartWaitMs.first;
  #questions = new Questions<Told[keyof Told]>(toldWaitMs);

  constructor(parts: ProcessParts) {
    this.#parts = parts;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Starts it, and resolves when it answers.
   *
   * @throws Error with the reason for which it cannot start
   */
  start(options: ProcessOptions): Promise<void> {
    this.#options = options;
    return new Promise((resolve, reject) => this.#start(resolve, reject));
  }

  send(message: ToProcess): void {
    // What cannot be sent is of no use to a process that has ended.
    if (this.#child?.connected) this.#child.send(message, () => {});
  }

  /** @returns null when it is not up, or does not answer */
  async tell<W extends keyof Told>(what: W): Promise<Told[W] | null> {
    if (!this.#isReady) return null;
    try {
      return (await this.#questions.ask((id) => this.send({ kind: 'tell', id, what }))) as Told[W];
    } catch (err) {
      this.#parts.log.warn({ err, process: this.#parts.number }, `${what} cannot be told`);
      return null;
    }
  }

  /** Lets it answer what is under way, and waits for its end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const overdue = setTimeout(() => {
      this.#parts.log.warn({ pid: child.pid }, 'a process does not stop and is ended');
      child.kill('SIGKILL');
    }, stopWaitMs);
    this.send({ kind: 'stop' });
    await ended;
    clearTimeout(overdue);
  }

  #start(onReady: () => void, onFailed: (error: Error) => void): void {
    const { number, log } = this.#parts;
    const child = launch(number);
    const startedAt = performance.now();
    let reason: string | null = null;
    this.#child = child;
    child.on('message', (message: FromProcess) => {
      if (message.kind === 'told') this.#questions.answered(message.id, message.answer);
      else if (message.kind === 'failed') reason = message.reason;
      else if (message.kind === 'ready') {
        this.#isReady = true;
        this.#wasReady = true;
        log.info({ pid: child.pid, process: number }, 'a process is ready');
        onReady();
      } else this.#parts.onMessage(message, (answer) => this.send(answer));
    });
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      if (this.#child !== child) return;
      const wasReady = this.#isReady;
      this.#child = null;
      this.#isReady = false;
      this.#questions.fail('the process has ended');
      if (wasReady) this.#parts.onEnd();
      const why = this.#stopped ? 'stopped' : (reason ?? (code && `a process ended with ${code}`));
      if (why) onFailed(new Error(why));
      // Whoever waits for the first start judges that; it has nothing to say of later ones.
      if (this.#stopped || (why && !this.#wasReady)) return;
      if (performance.now() - startedAt >= steadyAfterMs) this.#waitMs = restartWaitMs.first;
      this.#startLater({ code, signal, reason, pid: child.pid }, onReady, onFailed);
    };
    child.once('exit', (code, signal) => {
      // Its last words may still be on their way.
      if (child.connected) child.once('disconnect', () => ended(code, signal));
      else ended(code, signal);
    });
    child.once('error', (err) => {
      reason = err.message;
      ended(null, null);
    });
    this.send({ kind: 'begin', ...this.#options! });
  }

  #startLater(fields: object, onReady: () => void, onFailed: (error: Error) => void): void {
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, restartWaitMs.last);
    const { log, number } = this.#parts;
    log.error({ ...fields, process: number, waitMs }, 'a process ended; starting it again');
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#start(onReady, onFailed);
    }, waitMs);
  }
}

function launch(number: number): ChildProcess {
  const main = fileURLToPath(new URL('./process.ts', import.meta.url));
  return fork(main, [`process-${number}`], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}
