import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '../world/processes.ts';

/** Processor time that threads have taken, in microseconds, by thread id. */
type ByThread = ReadonlyMap<string, number>;

/** Who the processor time of a run is counted for: process ids that are asked for each time. */
export type Parts<Name extends string> = Readonly<Record<Name, () => readonly ThreadsOf[]>>;

/** Threads of a process: all of them, the one that began it, or all others. */
export interface ThreadsOf {
  readonly pid: number;
  readonly which: 'all' | 'main' | 'others';
}

/** A process with those it has started, such as Postgres with its backends. */
export function withChildren(pid: number): ThreadsOf[] {
  return [pid, ...childrenOf(pid)].map((one) => ({ pid: one, which: 'all' }));
}

/** Counts from now on. @returns microseconds of each part since then, whenever asked */
export function countCpu<Name extends string>(parts: Parts<Name>): () => Record<Name, number> {
  const names = Object.keys(parts) as Name[];
  const before = new Map(names.map((name) => [name, threadsOf(parts[name]())]));
  return () => {
    const spent = names.map((name) => [name, since(before.get(name)!, threadsOf(parts[name]()))]);
    return Object.fromEntries(spent) as Record<Name, number>;
  };
}

/** Threads that have begun since are counted whole; what ended ones took is lost. */
function since(before: ByThread, after: ByThread): number {
  let spent = 0;
  for (const [thread, us] of after) spent += us - (before.get(thread) ?? 0);
  return spent;
}

function threadsOf(all: readonly ThreadsOf[]): ByThread {
  const found = new Map<string, number>();
  for (const { pid, which } of all) {
    for (const thread of listed(`/proc/${pid}/task`)) {
      const isMain = thread === String(pid);
      if (which !== 'all' && isMain !== (which === 'main')) continue;
      const us = cpuUsOf(`/proc/${pid}/task/${thread}/stat`);
      if (us !== null) found.set(thread, us);
    }
  }
  return found;
}

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** User and system time, which Linux tells in ticks of 10 ms; null for a thread that has ended. */
function cpuUsOf(path: string): number | null {
  try {
    const stat = readFileSync(path, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

/** Processor time of the whole machine, whoever took it, in microseconds. */
export function machineUs(): number {
  const [, user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]!
    .split(/ +/)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq!) * 10_000;
}

/** Where Linux keeps groups of processes with a share of the processor (cgroup v1). */
const groups = '/sys/fs/cgroup/cpu';
/** As short as the kernel's ticks let a share be kept. */
const periodUs = 20_000;

/**
 * Gives each process a part of one core and no more, whatever else is idle.
 *
 * @returns takes it back; null where the system lets nobody do so
 */
export function limitCpu(pids: readonly number[], coreShare: number): (() => void) | null {
  const made: string[] = [];
  const undo = () => {
    for (const [i, group] of made.entries()) {
      // A group that still has a process cannot go: back to the root.
      moveTo(groups, pids[i]!);
      rmdirSync(group);
    }
  };
  try {
    for (const pid of pids) {
      const group = join(groups, `weir-bench-${pid}`);
      mkdirSync(group);
      made.push(group);
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(periodUs * coreShare)));
      moveTo(group, pid);
    }
    return undo;
  } catch (error) {
    undo();
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return null;
    throw error;
  }
}

function moveTo(group: string, pid: number): void {
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
}
