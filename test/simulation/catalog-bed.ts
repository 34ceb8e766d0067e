import { type Catalog, CatalogAway, CatalogFull, type Lookup } from '../../src/catalog/catalog.ts';
import { openLedger } from '../../src/catalog/ledger.ts';
import { type Call, writesThrough } from '../../src/catalog/writes.ts';
import type { SourceName } from './fixtures.ts';
import { type Caller, callOutside, type Fate, type Weather, type World } from './outside.ts';

/** A catalog that outlives the processes of a run, and is emptied for the next run. */
export interface CatalogBed {
  /** Everything that runs before this one wrote is gone; the declarations stay. */
  reset(): void;
  /** Makes one change, as the one who writes does it. */
  call(call: Call): Promise<unknown>;
  /** The reads of one process: they find what is committed. */
  lookup(): Lookup;
  standing(): ReturnType<Catalog['upkeep']['standing']>;
  /** How many deliveries are not final, or wait for a next generation. */
  waiting(): number;
  /** Every delivery as it stands, in accepted order, with all its names. */
  deliveries(): StoredDelivery[];
  close(): Promise<void>;
}

/** What who judges a run needs to know of a delivery. */
export interface StoredDelivery {
  readonly artifactId: string;
  readonly source: SourceName;
  readonly sandbox: boolean;
  readonly sequence: number;
  readonly sha256: string;
  readonly status: string;
  readonly version: 1 | 2;
  readonly generation: number;
  readonly object: string;
  readonly offset: number;
  readonly length: number;
  readonly records: number | null;
  readonly parsed: number | null;
  readonly rejected: number | null;
  readonly samples: number | null;
  readonly supersededWithin: number | null;
  /** Sorted. */
  readonly keys: readonly string[];
  readonly conflicts: number;
}

export function isFinal({ status }: Pick<StoredDelivery, 'status'>): boolean {
  return status === 'parsed' || status === 'rejected';
}

/** What a process has of a catalog. */
export type SimulatedCatalog = Pick<Catalog, 'lookup' | 'ledger' | 'queue' | 'reparses'> & {
  readonly upkeep: Pick<Catalog['upkeep'], 'standing'>;
};

/** A catalog as a process has it: its writes may fail or take long, its reads may fail. */
export function catalogOf(
  bed: CatalogBed,
  world: World,
  caller: Caller,
  weather: Weather,
): SimulatedCatalog {
  // Whether it is away or full, nothing was done.
  const away = (why: Fate) =>
    why === 'fails before' ? new CatalogFull(why) : new CatalogAway(why);
  const {
    queue,
    reparses,
    ledger: writes,
  } = writesThrough((call) =>
    callOutside(world, caller, {
      ...{ name: `catalog ${call.area}.${call.method}`, weather, away, inside: true },
      leavesOver: call.area === 'ledger',
      effect: () => bed.call(call),
    }),
  );
  const lookup = unlessDown(weather, bed.lookup());
  const upkeep = unlessDown(weather, { standing: () => bed.standing() });
  return { lookup, ledger: openLedger(writes, lookup).ledger, queue, reparses, upkeep };
}

function unlessDown<T extends object>(weather: Weather, reads: T): T {
  const entries = Object.entries(reads).map(([name, read]) => [
    name,
    async (...args: unknown[]) => {
      if (weather.down) throw new CatalogAway('the catalog is away');
      return read(...args);
    },
  ]);
  return Object.fromEntries(entries) as T;
}
