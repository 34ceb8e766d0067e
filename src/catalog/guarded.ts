/** The same calls, whose failures are the contract's. */
export function guarded<T extends object>(
  calls: T,
  asCatalogError: (error: unknown) => unknown,
): T {
  const entries = Object.entries(calls).map(([name, call]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await call(...args);
      } catch (error) {
        throw asCatalogError(error);
      }
    },
  ]);
  return Object.fromEntries(entries) as T;
}
