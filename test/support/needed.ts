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
