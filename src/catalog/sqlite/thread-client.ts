import { Worker } from 'node:worker_threads';
import { limits } from '../../domain/limits.ts';
import { CatalogAway } from '../catalog.ts';
import { errorOf } from '../failures.ts';
import type { Call } from '../writes.ts';
import type { FromThread, ThreadSettings, ToThread } from './messages.ts';
import type { Writer } from './writer.ts';

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One run of the thread: from its start to its end. */
interface Thread {
  readonly worker: Worker;
  readonly opened: Promise<void>;
  readonly ended: Promise<void>;
}

/** Starts the file of the other side. Tests hand in their own to get hold of the thread. */
export function startThread(settings: ThreadSettings): Worker {
  const file = new URL('./thread.ts', import.meta.url);
  return new Worker(file, { workerData: settings, name: 'catalog' });
}

/**
 * Opens the catalog for writing in a thread of its own.
 *
 * Failure: when the thread ends by itself, calls under way fail with `CatalogAway` (their work may
 * hold or not) and the next call starts a new thread.
 *
 * @throws what `openWriter` throws
 */
export async function openThread(path: string, start = startThread): Promise<Writer> {
  const client = new ThreadClient(() => start({ path }));
  await client.open();
  return client;
}

class ThreadClient implements Writer {
  readonly #start: () => Worker;
  readonly #pending = new Map<number, Pending>();
  #thread: Thread | null = null;
  #ids = 0;
  #closed = false;

  constructor(start: () => Worker) {
    this.#start = start;
  }

  open(): Promise<void> {
    this.#thread ??= this.#run();
    return this.#thread.opened;
  }

  async call(call: Call): Promise<unknown> {
    if (this.#closed) throw new CatalogAway('the catalog is closed');
    if (this.#pending.size >= limits.catalogCallsMax) {
      throw new CatalogAway('too many calls wait for the catalog');
    }
    const thread = this.#thread ?? this.#run();
    this.#thread = thread;
    const id = ++this.#ids;
    const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    post(thread.worker, { kind: 'call', id, call });
    return answer;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const thread = this.#thread;
    if (!thread) return;
    post(thread.worker, { kind: 'close' });
    await thread.ended;
  }

  #run(): Thread {
    const worker = this.#start();
    const { promise: opened, resolve: open, reject: notOpen } = Promise.withResolvers<void>();
    opened.catch(() => {}); // A later start fails the calls that wait for it, and nobody else.
    let why = new CatalogAway('the thread of the catalog ended') as Error;
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'open') open();
      else if (message.kind === 'not_open') why = errorOf(message.failure);
      else this.#settle(message);
    });
    worker.on('error', (error) => {
      const text = error instanceof Error ? error.message : String(error);
      why = new CatalogAway(`the thread of the catalog failed: ${text}`, { cause: error });
    });
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        this.#thread = null;
        notOpen(why);
        for (const [id, one] of this.#pending) {
          this.#pending.delete(id);
          one.reject(why);
        }
        resolve();
      });
    });
    return { worker, opened, ended };
  }

  #settle(message: Extract<FromThread, { id: number }>): void {
    const one = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'answer') one?.resolve(message.value);
    else one?.reject(errorOf(message.failure));
  }
}

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}
