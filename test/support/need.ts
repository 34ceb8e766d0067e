import { describe, test } from 'vitest';

/** What a suite needs: there, or missing for a reason. */
export type Needed<T> =
  | { readonly have: T; readonly reason: null }
  | { readonly have: null; readonly reason: string };

/**
 * Asks for something that tests need (a server, a browser). `ensure` fetches or builds it, or
 * throws an Error that says in one line why it cannot be had.
 */
export async function need<T>(name: string, ensure: () => Promise<T>): Promise<Needed<T>> {
  try {
    return { have: await ensure(), reason: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.warn(`${name} cannot be had: ${reason}`);
    return { have: null, reason: `${name} cannot be had: ${reason}` };
  }
}

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
