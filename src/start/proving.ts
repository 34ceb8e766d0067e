import { pino } from 'pino';
import { openArtifacts } from '../artifacts/open.ts';
import type { CheckResult } from '../catalog/company-figures-contract.ts';
import { limits } from '../domain/limits.ts';
import { startParsePool } from '../parse/pool.ts';
import type { Difference } from '../proof/difference.ts';
import type { ProofParts } from '../proof/rebuild.ts';
import { InsertBatcher } from '../samples/batcher.ts';
import { openProof } from '../samples/open-proof.ts';
import { systemClock } from '../std/clock.ts';
import { armCrashPoint } from '../std/crash-point.ts';
import type { Place } from './command.ts';
import { render } from './output.ts';
import { openCommandSamples } from './stores.ts';
import { WorkLine } from './work-line.ts';

/** Nobody waits for a single one to be readable: fewer and larger inserts than in the service. */
const rowsMax = 4 * limits.insertRowsMax;
const inserts = {
  ...{ rowsMax, rowsWorth: rowsMax, bytesWorth: limits.insertBytesMax },
  ...{ waitMs: 2_000, spacingMs: 0 },
};

/**
 * Opens what a rebuild or a verify works with, in this process: threads of its own, and the sample
 * store of the service that runs on these stores, or one that is opened for it.
 */
export async function withProof<T>(
  { settings, catalog }: Place,
  work: (parts: ProofParts) => Promise<T>,
): Promise<T> {
  if (settings.WEIR_CRASH_AT) armCrashPoint(settings.WEIR_CRASH_AT);
  const log = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }));
  const line = new WorkLine(process.stderr);
  const closings: (() => unknown)[] = [() => line.end()];
  try {
    const samples = await openCommandSamples(settings, log);
    closings.push(() => samples.close());
    const proof = openProof(samples.address);
    closings.push(() => proof.close());
    const artifacts = openArtifacts(settings.artifactsUrl);
    closings.push(() => artifacts.close());
    const pool = startParsePool({ artifactsUrl: settings.artifactsUrl });
    closings.push(() => pool.close());
    return await work({
      ...{ catalog, artifacts, pool, proof, samples: samples.store, clock: systemClock },
      batch: (insert) => new InsertBatcher({ store: { insert }, ...inserts }),
      onProgress: (progress) => line.show(progress),
    });
  } finally {
    for (const close of closings.reverse()) await close();
  }
}

/** A difference as the command line answers it. */
export function differenceView({ artifactId, sourceId, what }: Difference) {
  return { ...(artifactId === null ? {} : { artifact_id: artifactId }), source_id: sourceId, what };
}

/** Keeps a check's result, for the overview of the app. */
export async function keepResult(
  { catalog }: Pick<Place, 'catalog'>,
  result: Omit<CheckResult, 'at' | 'differences'>,
  differences: readonly Difference[],
): Promise<void> {
  const counted: Record<string, number> = {};
  for (const { sourceId } of differences) {
    counted[sourceId ?? ''] = (counted[sourceId ?? ''] ?? 0) + 1;
  }
  await catalog.figures.noteCheck({ ...result, at: systemClock(), differences: counted });
}

/**
 * Prints counts and differences, and sees to the exit code: 1 with any difference. For a person
 * each difference is a line of its own.
 */
export function report(
  counts: Readonly<Record<string, unknown>>,
  differences: readonly Difference[],
  json: boolean,
): void {
  if (differences.length > 0) process.exitCode = 1;
  if (json) {
    process.stdout.write(render({ ...counts, differences: differences.map(differenceView) }, true));
    return;
  }
  process.stdout.write(render({ ...counts, differences: differences.length }, false));
  for (const { artifactId, sourceId, what } of differences) {
    const name = artifactId === null ? `source ${sourceId}` : `delivery ${artifactId}`;
    process.stdout.write(`${name}: ${what}\n`);
  }
}
