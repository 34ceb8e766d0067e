import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats what may fail for a while, with waits that double up to `waitMaxMs`.
 *
 * @param told called with each failure; what it throws ends the attempts
 * @throws what `signal` was aborted with, once it is
 */
export async function untilDone<T>(
  attempt: () => Promise<T>,
  how: { waitMs: number; waitMaxMs: number; signal: AbortSignal; told: (error: unknown) => void },
): Promise<T> {
  for (let wait = how.waitMs; ; wait = Math.min(2 * wait, how.waitMaxMs)) {
    how.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      how.told(error);
      await sleep(wait, undefined, { signal: how.signal });
    }
  }
}
