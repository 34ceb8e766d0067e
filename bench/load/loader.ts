import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { World } from '../world/world.ts';
import type { Job, Load, LoadMessage } from './messages.ts';

const entry = fileURLToPath(new URL('main.ts', import.meta.url));

/** A process that sends load, so that its work is not done by what is measured. */
export class Loader {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<Load>>();
  #jobs = 0;

  constructor() {
    this.#child = fork(entry, { execArgv: ['--disable-warning=ExperimentalWarning'] });
    this.#child.on('message', (message: LoadMessage) => this.#settle(message));
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the loader has ended'));
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** @throws Error with the loader's own words when the job failed */
  run(job: Job): Promise<Load> {
    const waiting = Promise.withResolvers<Load>();
    const id = this.#jobs++;
    this.#waiting.set(id, waiting);
    this.#child.send({ id, job });
    return waiting.promise;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #settle(message: LoadMessage): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('load' in message) waiting?.resolve(message.load);
    else waiting?.reject(new Error(message.error));
  }
}

/** A loader that all cases of the group share. */
export function sharedLoader(world: World, name = 'loader'): Promise<Loader> {
  return world.once(`loader ${name}`, async () => {
    const loader = new Loader();
    return { value: loader, stop: () => loader.stop() };
  });
}

/** Numbers of deliveries are given once in a run, so that no two of them are the same. */
let given = 1;

/** @returns the first of so many numbers */
export function takeNumbers(count: number): number {
  const first = given;
  given += count;
  return first;
}
