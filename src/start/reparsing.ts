import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog } from '../catalog/catalog.ts';
import type { Settings } from './settings.ts';

export interface Stage {
  readonly settings: Settings;
  readonly catalog: Catalog;
}

/** Deliveries that wait for their next generation. */
export interface Awaited {
  /** How many still do. */
  remaining(): Promise<number>;
  /** Whether somebody has begun to parse any of them. */
  taken(): Promise<boolean>;
}

const pollMs = 50;
/** The loop of a service looks every second. */
const serviceWaitMs = 3_000;

/**
 * Resolves when none of the deliveries waits any more: the service that runs on these stores
 * parses them. Where none runs, or none takes them, a loop of this process does.
 */
export async function untilParsed({ settings, catalog }: Stage, awaited: Awaited): Promise<void> {
  const { engineRuns } = await import('./stores.ts');
  const served = settings.WEIR_CLICKHOUSE_URL !== undefined || (await engineRuns(settings));
  const ownFrom = Date.now() + (served ? serviceWaitMs : 0);
  let own: { stop(): Promise<void> } | null = null;
  let taken = false;
  try {
    while ((await awaited.remaining()) > 0) {
      taken ||= own === null && (await awaited.taken());
      if (!taken && own === null && Date.now() >= ownFrom) {
        const { startParsing } = await import('./parsing.ts');
        own = await startParsing(settings, catalog);
      }
      await sleep(pollMs);
    }
  } finally {
    await own?.stop();
  }
}

/** Waits for deliveries, in accepted order, to have the generation that was begun for each. */
export function generationsOf(
  catalog: Pick<Catalog, 'deliveries'>,
  begun: readonly { readonly artifactId: string; readonly generation: number }[],
): Awaited {
  let done = 0;
  return {
    async remaining() {
      for (; done < begun.length; done++) {
        const { artifactId, generation } = begun[done]!;
        const delivery = await catalog.deliveries.byArtifact(artifactId);
        if (delivery && delivery.generation < generation) break;
      }
      return begun.length - done;
    },
    async taken() {
      if (done > 0) return true;
      const first = await catalog.deliveries.byArtifact(begun[0]!.artifactId);
      return first?.status !== 'queued';
    },
  };
}

/** Waits for the withdrawals of a source, and for their text to be out of the sample store. */
export function withdrawalsOf(
  catalog: Pick<Catalog, 'deliveries' | 'reparses'>,
  sourceId: string,
  generation: number,
): Awaited {
  let most = 0;
  const remaining = async () => {
    const now = await catalog.deliveries.reparsing(sourceId, generation);
    most = Math.max(most, now);
    if (now > 0) return now;
    const toForget = await catalog.reparses.toForget();
    return toForget.some((one) => one.sourceId === sourceId) ? 1 : 0;
  };
  return { remaining, taken: async () => (await remaining()) < most };
}
