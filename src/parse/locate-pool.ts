import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { limits } from '../domain/limits.ts';
import type { LocateAnswer, LocateTask, WorkerSettings } from './messages.ts';
import { Turns } from './turns.ts';

/** The thread that reads single records again, for whoever asks where a number comes from. */
export interface LocatePool {
  /**
   * @throws ThreadsBusy when too many wait already, Error when the thread dies or overruns
   *   `parseDeadlineMs`
   */
  locate(task: LocateTask): Promise<LocateAnswer>;
  /** Ends the thread; what it was at is rejected. */
  close(): Promise<void>;
}

/** Try again later. */
export class ThreadsBusy extends Error {
  override readonly name = 'ThreadsBusy';
  readonly code = 'threads_busy';
}

/** A thread that nobody needs ends, so that it holds no memory. */
const idleMs = 60_000;

export function startLocatePool(settings: WorkerSettings): LocatePool {
  const pool = new Piscina<LocateTask, LocateAnswer>({
    filename: fileURLToPath(new URL('../../workers/locate-record.ts', import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    // Waiting blocked between tasks would freeze the thread's sockets to the object store.
    atomics: 'disabled',
    workerData: settings,
  });
  const turns = new Turns(1);
  let waiting = 0;
  return {
    async locate(task) {
      if (waiting >= limits.locateWaitingMax) {
        throw new ThreadsBusy('too many wait for the thread that reads records');
      }
      waiting += 1;
      try {
        // The deadline begins with the turn: who waits behind a parser that hangs is not to blame.
        return await turns.run(() =>
          pool.run(task, { signal: AbortSignal.timeout(limits.parseDeadlineMs) }),
        );
      } finally {
        waiting -= 1;
      }
    },
    close: () => pool.destroy(),
  };
}
