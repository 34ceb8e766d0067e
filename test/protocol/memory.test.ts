import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { type Minio, minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { TestWeir } from '../support/test-weir.ts';

/** Memory does not grow with the bodies on their way in, whatever they are stored on. */

const uploads = 64;
const aboveIdleMiBMax = 200;
const run = promisify(execFile);
const child = fileURLToPath(new URL('upload-child.ts', import.meta.url));

describeWith('with files', { have: null, reason: null }, () => {
  test(`${uploads} uploads of 8 MiB at once take at most ${aboveIdleMiBMax} MiB`, () =>
    measure('files', {}));
});

describeWith('with MinIO', await minioOrSkip(), () => {
  let minio: Minio | undefined;
  afterAll(() => minio?.stop());
  test(`${uploads} uploads of 8 MiB at once take at most ${aboveIdleMiBMax} MiB`, async () => {
    minio = await startMinio();
    await measure('MinIO', { WEIR_ARTIFACTS_URL: minio.url('memory') });
  });
});

async function measure(name: string, settings: Record<string, string>): Promise<void> {
  const weir = await TestWeir.start(settings);
  try {
    const source = await weir.source({ delivery: 'document' });
    // One delivery first: what is loaded once belongs to idle.
    const { sender } = source;
    await sender.settled(await sender.document('day,amount\n2026-03-01,1\n'));
    await sleep(500);
    const pid = weir.running.pid!;
    const idle = memory(pid, 'VmRSS');
    // Writing 5 sets the peak back to what is resident now (proc(5), clear_refs).
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const started = performance.now();
    const args = [child, weir.url, sender.key, String(uploads)];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 20 });
    const seconds = (performance.now() - started) / 1_000;
    const peak = memory(pid, 'VmHWM');
    expect(JSON.parse(stdout)).toEqual(Array.from({ length: uploads }, () => 202));
    const [idleMiB, peakMiB] = [idle, peak].map((kib) => Math.round(kib / 1_024));
    console.log(
      `${name}: ${uploads} × 8 MiB in ${seconds.toFixed(1)} s; resident ${idleMiB} MiB idle, ` +
        `${peakMiB} MiB at the peak, ${peakMiB! - idleMiB!} MiB above idle`,
    );
    expect(peakMiB! - idleMiB!).toBeLessThanOrEqual(aboveIdleMiBMax);
    expect(await source.deliveries()).toHaveLength(uploads + 1);
  } finally {
    await weir.stop();
  }
}

/** A figure of a process in KiB, as Linux tells it. */
function memory(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`^${name}:\\s+([0-9]+) kB$`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  );
  return Number(found![1]);
}
