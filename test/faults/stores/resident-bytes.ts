import { readFileSync } from 'node:fs';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';

/** What a running service holds of the machine's memory. */
export function residentBytes(weir: RunningWeir): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${weir.pid}/status`, 'utf8'))!;
  return Number(kib) * 1024;
}
