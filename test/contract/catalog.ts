import { afterAll, beforeAll, describe } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { auditContract } from './catalog/audit.ts';
import { basesContract } from './catalog/bases.ts';
import { deliveriesContract } from './catalog/deliveries.ts';
import { directoryContract } from './catalog/directory.ts';
import { keysContract } from './catalog/keys.ts';
import { ledgerContract } from './catalog/ledger.ts';
import { lookupContract } from './catalog/lookup.ts';
import { queueContract } from './catalog/queue.ts';
import { reparsesContract } from './catalog/reparses.ts';
import { samplesStateContract } from './catalog/samples-state.ts';
import { secretsContract } from './catalog/secrets.ts';
import { sourceSummariesContract } from './catalog/source-summaries.ts';
import { upkeepContract } from './catalog/upkeep.ts';
import { usersContract } from './catalog/users.ts';
import { usesContract } from './catalog/uses.ts';

/** A place for one catalog; `open` gives another handle on the same one each time. */
export interface CatalogPlace {
  open(): Promise<Catalog>;
  remove(): Promise<void>;
}

/** What the cases of the suite work on. */
export interface Subject {
  readonly catalog: Catalog;
  /** Closes the catalog and opens it again, as a restart does. */
  reopen(): Promise<Catalog>;
  /** Another handle on the same catalog, closed after the case's file. */
  another(): Promise<Catalog>;
}

/** The contract of `src/catalog/catalog.ts`, for every implementation. */
export function catalogContract(name: string, place: () => Promise<CatalogPlace>): void {
  const suites = {
    directory: directoryContract,
    keys: keysContract,
    secrets: secretsContract,
    uses: usesContract,
    lookup: lookupContract,
    ledger: ledgerContract,
    queue: queueContract,
    reparses: reparsesContract,
    'samples state': samplesStateContract,
    deliveries: deliveriesContract,
    bases: basesContract,
    audit: auditContract,
    upkeep: upkeepContract,
    'source summaries': sourceSummariesContract,
    users: usersContract,
  };
  for (const [part, suite] of Object.entries(suites)) {
    describe(`${name}: ${part}`, () => suite(subject(place)));
  }
}

function subject(place: () => Promise<CatalogPlace>): Subject {
  let at: CatalogPlace;
  let open: Catalog;
  const others: Catalog[] = [];
  beforeAll(async () => {
    at = await place();
    open = await at.open();
  });
  afterAll(async () => {
    for (const one of [open, ...others]) await one.close();
    await at.remove();
  });
  return {
    get catalog() {
      return open;
    },
    async reopen() {
      await open.close();
      open = await at.open();
      return open;
    },
    async another() {
      const one = await at.open();
      others.push(one);
      return one;
    },
  };
}
