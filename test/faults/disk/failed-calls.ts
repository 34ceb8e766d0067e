import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { type SystemCall, trace } from '../../support/strace.ts';
import type { FaultPlace } from '../place.ts';
import { openPath, textsOf } from './call-text.ts';

const syncs = ['fsync', 'fdatasync'];

/** All that changes files, and what makes it durable. */
export const traced = ['pwrite64', ...syncs, 'rename', 'mkdir', 'rmdir', 'unlink', 'ftruncate'];

/** The threads of a service that write the artifacts and the catalog. */
export async function storeThreads(
  weir: RunningWeir,
  place: FaultPlace,
  use: () => Promise<void>,
): Promise<{ artifacts: number; catalog: number }> {
  const tracing = await trace(weir.pid!, ['pwrite64'], join(place.dataDir, 'trace'));
  await use();
  const calls = await tracing.stop();
  const of = (path: string) => {
    const threads = new Set(calls.filter(({ text }) => text.includes(path)).map((c) => c.thread));
    expect(threads.size, `threads that write ${path}`).toBe(1);
    return [...threads][0]!;
  };
  return { artifacts: of('/artifacts/tmp/'), catalog: of('/catalog.db-wal>') };
}

/**
 * Looks at what came after each sync that failed. The kernel may have dropped what it could not
 * write and report success the next time, so nothing may count on a later sync of the same bytes:
 * - a body's file is never synced again and never gets its name;
 * - a directory is synced again only when another name was put into it;
 * - the catalog and its log are synced again only when the same pages were written again.
 *
 * @returns how many failures were looked at
 */
export function countGivenUp(calls: readonly SystemCall[]): number {
  let seen = 0;
  for (const failure of calls) {
    if (!syncs.includes(failure.name) || !failure.failed) continue;
    const path = openPath(failure.text)!;
    const later = calls.filter((call) => call.begun > failure.ended);
    const again = later.find((call) => syncs.includes(call.name) && openPath(call.text) === path);
    seen += 1;
    if (/\/catalog\.db(-wal)?$/.test(path)) {
      if (again) expectWrittenAgain(calls, failure, again);
    } else if (path.includes('/artifacts/tmp/')) {
      expect(again, `a second sync of ${path}`).toBeUndefined();
      const named = later.find((call) => call.name === 'rename' && call.text.includes(`"${path}"`));
      expect(named, `a name for ${path}`).toBeUndefined();
    } else if (again) {
      expectNewName(calls, failure, again);
    }
  }
  return seen;
}

/** From the first page of the group that failed on, before the next sync. */
function expectWrittenAgain(
  calls: readonly SystemCall[],
  failure: SystemCall,
  again: SystemCall,
): void {
  const path = openPath(failure.text)!;
  const own = calls.filter((call) => openPath(call.text) === path && !call.failed);
  const before = own.filter((call) => syncs.includes(call.name) && call.ended < failure.begun);
  const since = before.at(-1)?.ended ?? -1;
  const group = offsets(own, since, failure.begun);
  const written = offsets(own, failure.ended, again.begun);
  if (group.length === 0) return; // There was nothing to lose.
  expect(Math.min(...written), `where ${path} is written again`).toBeLessThanOrEqual(
    Math.min(...group),
  );
}

/** Unless nothing had come into the directory since it was last synced. */
function expectNewName(calls: readonly SystemCall[], failure: SystemCall, again: SystemCall): void {
  const path = openPath(failure.text)!;
  const done = calls.filter((call) => !call.failed);
  const synced = done.findLast(
    (call) =>
      syncs.includes(call.name) && openPath(call.text) === path && call.ended < failure.begun,
  );
  // A mark that failed is written anew, whoever syncs its directory meanwhile.
  const named = done.filter(
    ({ name, text }) => /^(rename|mkdir|rmdir)/.test(name) && !text.includes('/mark.json'),
  );
  const isName = (text: string) => dirname(text) === path;
  const within = (from: number, to: number) =>
    named.filter((call) => call.begun > from && call.ended < to && textsOf(call.text).some(isName));
  if (within(synced?.ended ?? -1, failure.begun).length === 0) return;
  const since = within(failure.ended, again.begun);
  expect(since.length, `new names in ${path} before it is synced again`).toBeGreaterThan(0);
}

function offsets(calls: readonly SystemCall[], from: number, to: number): number[] {
  return calls
    .filter((call) => call.name === 'pwrite64' && call.begun > from && call.ended < to)
    .map((call) => Number(/, (\d+)\) += \d+$/.exec(call.text)![1]));
}
