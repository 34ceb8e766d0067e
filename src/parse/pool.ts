import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { limits } from '../domain/limits.ts';
import type { PushReading } from '../domain/push.ts';
import type { ParseAnswer, ParseTask, ReadPushTask, WorkerSettings } from './messages.ts';
import { Turns } from './turns.ts';

const worker = (name: string) =>
  fileURLToPath(new URL(`../../workers/${name}.ts`, import.meta.url));

/** The threads that parse stored deliveries. */
export interface ParsePool {
  readonly threads: number;
  /**
   * @throws when the thread dies or overruns `parseDeadlineMs`: its deliveries' fault or the
   *   machine's, which running each alone tells
   */
  run(task: ParseTask): Promise<ParseAnswer>;
  /** Ends the threads; what they were at is rejected. */
  close(): Promise<void>;
}

/** @param how tests hand in their own worker file, which crashes, and do not wait for long */
export function startParsePool(
  settings: WorkerSettings,
  how: { readonly file?: string; readonly deadlineMs?: number } = {},
): ParsePool {
  const { file = worker('parse'), deadlineMs = limits.parseDeadlineMs } = how;
  const threads = Math.max(1, availableParallelism() - 1);
  const pool = new Piscina<ParseTask, ParseAnswer>({
    filename: file,
    minThreads: threads,
    maxThreads: threads,
    maxQueue: threads,
    // Waiting blocked between tasks would freeze the thread's sockets to the object store.
    atomics: 'disabled',
    workerData: settings,
  });
  // A task waits here and not in the pool, so that its deadline does not run while it waits: those
  // behind a parser that hangs would overrun theirs with it.
  const turns = new Turns(threads);
  return {
    threads,
    run: (task) => turns.run(() => pool.run(task, { signal: AbortSignal.timeout(deadlineMs) })),
    close: () => pool.destroy(),
  };
}

/** The thread that reads large JSON pushes at the door; apart, so that no document delays it. */
export interface DoorPool {
  readPush(body: Buffer, required: readonly string[] | null): Promise<PushReading>;
  close(): Promise<void>;
}

export function startDoorPool(): DoorPool {
  const pool = new Piscina<ReadPushTask, PushReading>({
    filename: worker('read-push'),
    minThreads: 1,
    maxThreads: 1,
    maxQueue: 1_000,
  });
  return {
    readPush: (body, required) => pool.run({ body, required }),
    close: () => pool.close(),
  };
}
