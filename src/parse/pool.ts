import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { limits } from '../domain/limits.ts';
import type { PushReading } from '../domain/push.ts';
import type {
  HandedRows,
  ParseAnswer,
  ParseTask,
  ReadPushTask,
  WorkerSettings,
} from './messages.ts';
import { pausableTimeout } from './pausable-timeout.ts';
import { Turns } from './turns.ts';

const worker = (name: string) =>
  fileURLToPath(new URL(`../../workers/${name}.ts`, import.meta.url));

/** The threads that parse stored deliveries. */
export interface ParsePool {
  readonly threads: number;
  /**
   * @param takeRows takes rows of large deliveries while they are made; without it, all come with
   *   the answer
   * @throws when the thread dies or overruns `parseDeadlineMs`: its deliveries' fault or the
   *   machine's, which running each alone tells. The time of `takeRows` does not count
   */
  run(task: Omit<ParseTask, 'rows'>, takeRows?: TakeRows): Promise<ParseAnswer>;
  /** Ends the threads; what they were at is rejected. */
  close(): Promise<void>;
}

/** @returns whether more may come; on false the delivery's outcome is `unreadable` */
export type TakeRows = (rows: HandedRows) => Promise<boolean>;

/** The threads of each process where so many share a machine; one core is for what they do else. */
export function parseThreadsOf(processes: number): number {
  return Math.max(1, Math.floor((availableParallelism() - 1) / processes));
}

/** @param how tests hand in their own worker file, which crashes, and do not wait for long */
export function startParsePool(
  settings: WorkerSettings,
  how: {
    readonly threads?: number;
    readonly file?: string;
    readonly deadlineMs?: number;
  } = {},
): ParsePool {
  const { threads = parseThreadsOf(1) } = how;
  const { file = worker('parse'), deadlineMs = limits.parseDeadlineMs } = how;
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
    run: (task, takeRows) => turns.run(() => runTask(pool, task, takeRows, deadlineMs)),
    close: () => pool.destroy(),
  };
}

async function runTask(
  pool: Piscina<ParseTask, ParseAnswer>,
  task: Omit<ParseTask, 'rows'>,
  takeRows: TakeRows | undefined,
  deadlineMs: number,
): Promise<ParseAnswer> {
  const deadline = pausableTimeout(deadlineMs);
  const { port1: own, port2: rows } = new MessageChannel();
  own.on('message', async (handed: HandedRows) => {
    deadline.pause();
    const goOn = await takeRows!(handed).catch(() => false);
    deadline.resume();
    own.postMessage(goOn);
  });
  try {
    const { signal } = deadline;
    if (takeRows === undefined) return await pool.run(task, { signal });
    return await pool.run({ ...task, rows }, { signal, transferList: [rows] });
  } finally {
    deadline.end();
    own.close();
  }
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
