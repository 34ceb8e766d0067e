import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a process and its threads hold in memory now, in MiB. */
export function residentOf(pid: number): number {
  return statusOf(pid, 'VmRSS');
}

/** The most that they held since they began, or since `resetPeak`. */
export function peakOf(pid: number): number {
  return statusOf(pid, 'VmHWM');
}

export function resetPeak(pid: number): void {
  // Writing 5 sets the peak back to what is resident now (proc(5), clear_refs).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusOf(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+([0-9]+) kB$`, 'm').exec(status)![1]) / 1_024;
}

/** The processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(name)?.[1] === String(pid))
    .map(Number);
}

/** Milliseconds of processor time that a process and its threads have taken so far. */
export function cpuMsOf(pid: number): number {
  const stat = statOf(String(pid));
  if (stat === null) throw new Error(`process ${pid} is gone`);
  // User and system time in ticks, of which Linux tells 100 a second.
  return (Number(stat[11]) + Number(stat[12])) * 10;
}

/** Waits until a process has nearly nothing to do: under a fifth of a core for half a second. */
export async function untilQuiet(pid: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (let before = cpuMsOf(pid); ; ) {
    await sleep(500);
    const now = cpuMsOf(pid);
    if (now - before < 100) return;
    if (Date.now() > deadline) throw new Error(`process ${pid} does not come to rest`);
    before = now;
  }
}

/** The fields of a process's stat behind its name, the state first; null when it has ended. */
function statOf(pid: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
