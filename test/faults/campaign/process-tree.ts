import { readFileSync } from 'node:fs';

/** One process, and no later one that has its number. */
export interface OneProcess {
  readonly pid: number;
  readonly startedAt: string;
}

/** @returns false when there is no such process any more */
export function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

export function childrenOf(pid: number): number[] {
  const text = readOf(`/proc/${pid}/task/${pid}/children`);
  return text.split(' ').filter(Boolean).map(Number);
}

/** Whether the command that a process was started with has this in it. */
export function isCommand(pid: number, part: string): boolean {
  return readOf(`/proc/${pid}/cmdline`).includes(part);
}

/** A process and all below it, the parents first; none when there is no such process. */
export function treeOf(pid: number): OneProcess[] {
  return treeWith(pid, () => true);
}

/** Whether it has not ended; one that nobody has asked for its end yet has. */
export function runs({ pid, startedAt }: OneProcess): boolean {
  return startOf(pid) === startedAt;
}

/**
 * Stops a process and all below it, the parents first: whoever stands still starts no other.
 *
 * @returns lets those go on that are still there; null when there is no such process
 */
export function stopTree(pid: number): (() => void) | null {
  const stopped = treeWith(pid, (one) => send(one, 'SIGSTOP'));
  if (stopped.length === 0) return null;
  return () => {
    for (const one of stopped) if (runs(one)) send(one.pid, 'SIGCONT');
  };
}

/** @param visit whether it is there; called before anything below it is looked for */
function treeWith(pid: number, visit: (pid: number) => boolean): OneProcess[] {
  const startedAt = startOf(pid);
  if (startedAt === null || !visit(pid)) return [];
  return [{ pid, startedAt }, ...childrenOf(pid).flatMap((child) => treeWith(child, visit))];
}

/** In clock ticks since the machine's start (proc_pid_stat(5), field 22); null: it has ended. */
function startOf(pid: number): string | null {
  const stat = readOf(`/proc/${pid}/stat`);
  // The second field is a name in brackets that may hold anything; the third is the state.
  const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? null : (others[18] ?? null);
}

/** Empty when the process is gone. */
function readOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}
