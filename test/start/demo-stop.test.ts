import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Processes whose environment names the directory. */
function processesOn(directory: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(directory);
    } catch {
      return false; // It has ended since, or is another user's.
    }
  });
}

test('a demo that is stopped while it sets up leaves no process and no data', async () => {
  const own = mkdtempSync(join(tmpdir(), 'weir-demo-stop-'));
  try {
    const demo = spawn(process.execPath, ['src/start/demo/main.ts', '--once'], {
      env: { ...process.env, TMPDIR: own },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void demo.kill('SIGKILL'));
    await once(demo.stdout, 'data');
    expect(processesOn(own).length).toBeGreaterThan(1);
    demo.kill('SIGTERM');
    expect(await once(demo, 'exit')).toEqual([1, null]);
    expect(processesOn(own)).toEqual([]);
    expect(readdirSync(own)).toEqual([]);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}, 60_000);
