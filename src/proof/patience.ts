import { setTimeout as sleep } from 'node:timers/promises';
import { StoreAway } from '../artifacts/artifacts.ts';
import { CatalogAway } from '../catalog/catalog.ts';
import { SamplesAway } from '../samples/samples.ts';

const waitMs = { first: 200, last: 5_000, all: 120_000 };

/**
 * Does what may be done again until it succeeds, while a store is away for a short time: a restart
 * of the engine must not cost hours of work.
 *
 * @throws what `work` threw, when it is anything else or the store stays away
 */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + waitMs.all;
  for (let wait = waitMs.first; ; wait = Math.min(2 * wait, waitMs.last)) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || performance.now() + wait > end) throw error;
      await sleep(wait);
    }
  }
}

function isAway(error: unknown): boolean {
  return error instanceof StoreAway || error instanceof SamplesAway || error instanceof CatalogAway;
}
