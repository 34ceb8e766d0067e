import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';

/** The processes of a service of several, as its log names those that are up: number → pid. */
export function pidsOf(weir: RunningWeir): Map<number, number> {
  const pids = new Map<number, number>();
  for (const line of weir.log.split('\n')) {
    if (!line.includes('"a process is ready"')) continue;
    const { pid, process } = JSON.parse(line) as { pid: number; process: number };
    pids.set(process, pid);
  }
  return pids;
}

/** How many connections to a local port a process serves now. */
export function connectionsOf(pid: number, port: number): number {
  const inodes = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1];
    if (inode) inodes.add(inode);
  }
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) && state === established)
    .filter((row) => inodes.has(row[9]!)).length;
}

const established = '01';

/** A file may be closed between the listing and the look. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
