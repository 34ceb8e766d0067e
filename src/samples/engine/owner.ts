import Database from 'better-sqlite3';

/**
 * One engine to a data directory. The owner holds a transaction open on a small database file of
 * its own: the kernel drops that lock when the process ends, however it ends, so there is never a
 * stale one to remove. (The engine locks its store too, but says so only on its error output.)
 */
export interface Ownership {
  release(): void;
}

/** @returns null when another process still owned the directory after `waitMs` milliseconds */
export async function takeOwnership(lockFile: string, waitMs: number): Promise<Ownership | null> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const ownership = tryOwnership(lockFile);
    if (ownership !== null || performance.now() >= deadline) return ownership;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function tryOwnership(lockFile: string): Ownership | null {
  const db = new Database(lockFile, { timeout: 0 });
  try {
    db.pragma('locking_mode = exclusive');
    db.exec('BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
}
