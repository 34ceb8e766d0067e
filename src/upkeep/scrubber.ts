import { setTimeout as sleep } from 'node:timers/promises';
import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { ArtifactCheck, Damage, StoredArtifact, Upkeep } from '../catalog/upkeep-contract.ts';
import { limits } from '../domain/limits.ts';
import type { Clock } from '../std/clock.ts';
import { damageBy, StoredHashes } from './stored-bytes.ts';

const batchArtifacts = 64;

/** A store that answers, and does not give an artifact so many times, cannot read it any more. */
const refusalsMax = 4;

export interface ScrubParts {
  readonly artifacts: Pick<ArtifactStore, 'read' | 'ping'>;
  readonly catalog: { readonly upkeep: Pick<Upkeep, 'nextToCheck' | 'noteChecks'> };
  readonly clock: Clock;
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly metrics: { scrubbed(bytes: number): void };
  /** `scrubBytesASecond`, but for tests. */
  readonly bytesASecond?: number;
  /** The wait after the first refusal, which doubles. */
  readonly refusedWaitMs?: number;
}

/**
 * Compares stored bytes with the hashes of their receipts, in rounds over all artifacts, at a
 * bounded rate. What is found stands with the delivery in the catalog and in the log; a later
 * round that finds the bytes again takes it back. It is looked at twice: what was damaged only on
 * its way is well.
 *
 * Failure: while the store is away the artifact at hand is tried again. One that is refused while
 * the store answers (a store that checks its own disk refuses what has rotted) is damaged, too.
 * Those taken and not checked when the process ends wait for the next round.
 */
export function startScrubber(parts: ScrubParts): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = scrub(parts, signal).catch((err) => {
    if (!signal.aborted) throw err;
  });
  return async () => {
    stopping.abort();
    await running;
  };
}

async function scrub(parts: ScrubParts, signal: AbortSignal): Promise<void> {
  const pause = () => sleep(limits.scrubPauseMs, undefined, { signal });
  while (!signal.aborted) {
    try {
      if ((await scrubBatch(parts, signal)) === 0) await pause();
    } catch (err) {
      if (signal.aborted) return;
      parts.log.warn({ err }, 'stored artifacts are not checked for now');
      await pause();
    }
  }
}

/**
 * Checks the next artifacts that are due.
 *
 * @returns how many there were
 */
export async function scrubBatch(parts: ScrubParts, signal: AbortSignal): Promise<number> {
  const { bytesASecond = limits.scrubBytesASecond } = parts;
  const due = await parts.catalog.upkeep.nextToCheck({
    limit: batchArtifacts,
    bytesMax: bytesASecond,
    roundMs: limits.scrubRoundMs,
    now: parts.clock(),
  });
  const checks: ArtifactCheck[] = [];
  const hashes = new StoredHashes(
    parts.artifacts,
    due.map(({ place }) => place),
  );
  try {
    for (const [i, stored] of due.entries()) {
      checks.push(await checkOne(parts, stored, () => hashes.of(i), signal));
      const { object, length } = stored.place;
      // Neighbours in a segment cost the store one request.
      const isNew = object !== due[i - 1]?.place.object;
      const counted = isNew ? Math.max(length, limits.scrubObjectBytesMin) : length;
      await sleep((1_000 * counted) / bytesASecond, undefined, { signal });
    }
  } finally {
    if (checks.length > 0) await parts.catalog.upkeep.noteChecks(checks);
  }
  return due.length;
}

async function checkOne(
  parts: ScrubParts,
  { artifactId, place, sha256 }: StoredArtifact,
  hash: () => Promise<Buffer>,
  signal: AbortSignal,
): Promise<ArtifactCheck> {
  const { artifacts, clock, log, metrics, refusedWaitMs = 1_000 } = parts;
  const checked = (damage: Damage | null): ArtifactCheck => {
    metrics.scrubbed(place.length);
    if (damage !== null) {
      const fields = { artifactId, object: place.object, damage };
      log.error(fields, 'a stored artifact is damaged: restore it from a copy');
    }
    return { artifactId, at: clock(), damage };
  };
  const lookAlone = () => new StoredHashes(artifacts, [place]).of(0);
  let look = hash;
  for (let refusals = 0; ; ) {
    try {
      const damage = await damageBy(sha256, look);
      if (damage === null || look === lookAlone) return checked(damage);
    } catch (err) {
      log.warn({ err, artifactId }, 'a stored artifact cannot be checked for now');
      refusals = await artifacts.ping().then(
        () => refusals + 1,
        () => 0,
      );
      if (refusals === refusalsMax) return checked('unreadable');
      const waitMs = refusals === 0 ? limits.scrubPauseMs : refusedWaitMs * 2 ** (refusals - 1);
      await sleep(waitMs, undefined, { signal });
    }
    look = lookAlone;
  }
}
