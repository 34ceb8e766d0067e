import { readFileSync } from 'node:fs';

/** Whether the process runs: one that has ended does not, whether or not its parent asked how. */
export function isAlive(pid: number): boolean {
  try {
    // "pid (name) state …", where a name may hold anything, a closing bracket too.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return false;
    throw error;
  }
}
