import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { LoadTask } from './load-main.ts';

const main = fileURLToPath(new URL('./load-main.ts', import.meta.url));

/** The load, in a process that no fault is made to. */
export class LoadProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
    this.#ended = once(child, 'exit').then(([code]) => {
      if (code !== 0) throw new Error(`the load ended with ${code}: ${said}`);
    });
    this.#ended.catch(() => {}); // Told by `stop` and `failed`.
  }

  /** @param taskFile where its task is written for it */
  static async start(task: LoadTask, taskFile: string): Promise<LoadProcess> {
    await writeFile(taskFile, JSON.stringify(task), { mode: 0o600 });
    const child = fork(main, [taskFile], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    const load = new LoadProcess(child);
    await Promise.race([once(child, 'message'), load.#ended]);
    return load;
  }

  /** Rejects when the load ends by itself, which it does only when it failed. */
  failed(): Promise<never> {
    return this.#ended.then(() => new Promise<never>(() => {}));
  }

  /**
   * Lets it send nothing new; resolves when all that was begun has its receipt.
   *
   * @throws Error when one did not come
   */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.send('stop');
    await this.#ended;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}
