import { setTimeout as sleep } from 'node:timers/promises';
import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Deliveries } from '../catalog/deliveries-contract.ts';
import type { Upkeep } from '../catalog/upkeep-contract.ts';
import { limits } from '../domain/limits.ts';
import { isExpired, receivedAtOf, type StoredObject } from '../domain/recovery.ts';
import { type Clock, monotonicClock } from '../std/clock.ts';
import type { MarkKeeper } from './mark-keeper.ts';

/** Objects asked for at once. */
const batchObjects = 1_000;

/** Younger ones may be of deliveries whose receipt is on its way. */
const youngMs = 60_000;

export interface OrphanParts {
  readonly artifacts: Pick<ArtifactStore, 'list' | 'remove'>;
  readonly catalog: {
    readonly deliveries: Pick<Deliveries, 'referenced'>;
    readonly upkeep: Pick<Upkeep, 'standing'>;
  };
  readonly keeper: Pick<MarkKeeper, 'storeTime'>;
  readonly clock: Clock;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  readonly metrics: { orphans(count: number): void; orphansRemoved(count: number): void };
}

/**
 * Counts the objects that no delivery refers to, and removes those that are older than
 * `orphanDaysKept` by the store's clock (DECISIONS 5).
 *
 * Nothing is removed while the catalog may be older than its store: by the mark, or because an
 * orphan is newer than every delivery. It may be the only trace of a receipt then.
 *
 * @returns how many orphans are left
 */
export async function countOrphans(parts: OrphanParts, signal: AbortSignal): Promise<number> {
  const storeNow = await parts.keeper.storeTime();
  const found = await findOrphans(parts, storeNow, signal);
  const { receivedAt } = await parts.catalog.upkeep.standing();
  const isWhole = storeNow !== null && found.newest <= (receivedAt ?? 0);
  const removed = isWhole ? await remove(parts, found.expired) : 0;
  parts.metrics.orphans(found.count - removed);
  return found.count - removed;
}

interface Found {
  count: number;
  /** When the newest of them was received. */
  newest: number;
  readonly expired: string[];
}

async function findOrphans(
  parts: OrphanParts,
  storeNow: number | null,
  signal: AbortSignal,
): Promise<Found> {
  const found: Found = { count: 0, newest: 0, expired: [] };
  let batch: StoredObject[] = [];
  const judge = async () => {
    for (const orphan of await unreferenced(parts, batch)) {
      found.count++;
      found.newest = Math.max(found.newest, receivedAtOf(orphan.object));
      const room = found.expired.length < limits.orphanRemovalsMax;
      if (room && storeNow !== null && isExpired(orphan, storeNow)) {
        found.expired.push(orphan.object);
      }
    }
    // The listing's rate is bounded: neither store nor catalog is to be busy with it.
    await sleep((1_000 * batch.length) / limits.orphanListedASecond, undefined, { signal });
    batch = [];
  };
  for await (const object of parts.artifacts.list()) {
    if (object.storedAt > parts.clock() - youngMs) continue;
    if (batch.push(object) === batchObjects) await judge();
  }
  await judge();
  return found;
}

async function unreferenced(
  { catalog }: Pick<OrphanParts, 'catalog'>,
  batch: readonly StoredObject[],
): Promise<StoredObject[]> {
  const known = await catalog.deliveries.referenced(batch.map(({ object }) => object));
  return batch.filter(({ object }) => !known.has(object));
}

async function remove(parts: OrphanParts, objects: readonly string[]): Promise<number> {
  const known = await parts.catalog.deliveries.referenced(objects);
  let removed = 0;
  for (const object of objects) {
    if (known.has(object)) continue;
    await parts.artifacts.remove(object);
    removed++;
  }
  if (removed > 0) parts.log.info({ removed }, 'unreferenced objects were removed');
  parts.metrics.orphansRemoved(removed);
  return removed;
}

/** Counts again and again; the returned function ends it. */
export function startOrphanCount(parts: OrphanParts): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    while (!signal.aborted) {
      const began = monotonicClock();
      try {
        await countOrphans(parts, signal);
      } catch (err) {
        if (!signal.aborted) parts.log.warn({ err }, 'unreferenced objects were not counted');
      }
      // A listing that takes long is not to be under way most of the time.
      const pause = Math.max(limits.orphanCountEveryMs, 10 * (monotonicClock() - began));
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
