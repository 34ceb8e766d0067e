import { describe, test } from 'vitest';
import type { Needed } from './needed.ts';

/**
 * A suite that runs on what is needed. Without it the suite is skipped and shows the reason; with
 * `CI=true` it fails, since nobody would see the skip.
 */
export function describeWith<T>(title: string, needed: Needed<T>, body: (have: T) => void): void {
  if (needed.reason === null) {
    describe(title, () => body(needed.have));
    return;
  }
  const { reason } = needed;
  describe(title, () => {
    test(reason, ({ skip }) => {
      if (mustHave(process.env)) throw new Error(reason);
      skip(reason);
    });
  });
}

/** Whether what is missing fails the run. */
export function mustHave(env: NodeJS.ProcessEnv): boolean {
  return env.CI === 'true';
}
