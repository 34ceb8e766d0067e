import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Crowd, CrowdCounts } from './crowd-child.ts';

const child = fileURLToPath(new URL('crowd-child.ts', import.meta.url));

export interface RunningCrowd {
  counts(): CrowdCounts;
  /** Waits until so many of its connections are open. */
  gathered(atLeast: number, waitMs: number): Promise<void>;
  end(): Promise<void>;
}

/** Sends a crowd against a service, in a process of its own. */
export function startCrowd(crowd: Crowd): RunningCrowd {
  const running = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'inherit'] });
  let counts: CrowdCounts = { open: 0, opened: 0, cut: 0 };
  let told = () => {};
  createInterface({ input: running.stdout }).on('line', (line) => {
    counts = JSON.parse(line) as CrowdCounts;
    told();
  });
  running.stdin.write(`${JSON.stringify(crowd)}\n`);
  return {
    counts: () => counts,
    gathered(atLeast, waitMs) {
      return new Promise((resolve, reject) => {
        const late = () => reject(new Error(`only ${counts.open} connections after ${waitMs} ms`));
        const timer = setTimeout(late, waitMs);
        told = () => {
          if (counts.open < atLeast) return;
          clearTimeout(timer);
          resolve();
        };
      });
    },
    async end() {
      if (running.exitCode !== null || running.signalCode !== null) return;
      running.stdin.end();
      await once(running, 'exit');
    },
  };
}

/** How many sockets a crowd may have here: it and the service need a file for each. */
export function socketsWithin(wanted: number): number {
  const files = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return Math.min(wanted, Math.floor(Number(files ?? Infinity) / 5));
}

/** Sockets that a process has open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Sets the peak back to what is resident now (proc(5), clear_refs). @returns MiB resident */
export function forgetPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return memoryMiB(pid, 'VmRSS');
}

export function memoryMiB(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+([0-9]+) kB$`, 'm').exec(status)![1]) / 1_024;
}
