import { ArtifactMissing, StoreAway } from '../artifacts.ts';

/** The operating system's word for a failure (`ENOSPC`, `EIO`); null for any other error. */
export function errno(error: unknown): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** What the operating system refused becomes `StoreAway`; everything else stays as it is. */
export function storeError(error: unknown, doing: string): Error {
  const code = errno(error);
  if (code === null) return error instanceof Error ? error : new Error(String(error));
  return new StoreAway(`${code} while ${doing} in the artifact directory`, { cause: error });
}

/** As `storeError`, but an absent file is an artifact that is missing. */
export function readError(error: unknown, object: string): Error {
  if (errno(error) !== 'ENOENT') return storeError(error, `reading ${object}`);
  return new ArtifactMissing(`${object} is not in the artifact directory`, { cause: error });
}

/** Runs a file operation for which an absent file is fine; null says that it was absent. */
export async function unlessAbsent<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (errno(error) === 'ENOENT') return null;
    throw error;
  }
}
