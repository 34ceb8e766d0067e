import type { Transaction } from 'kysely';
import type { CatalogDialect } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import { first } from './0001-first.ts';
import { keysAndSecrets } from './0002-keys-and-secrets.ts';
import { reparses } from './0003-reparses.ts';
import { upkeepState } from './0004-upkeep.ts';
import { forgetting } from './0005-forgetting.ts';
import { samplesVersions } from './0006-samples-versions.ts';
import { users } from './0007-users.ts';
import { deliveryPages } from './0008-delivery-pages.ts';

/** One step of the schema. Runs once, in the transaction of all missing steps; never edited. */
export interface Migration {
  readonly name: string;
  up(trx: Transaction<Schema>, dialect: CatalogDialect): Promise<void>;
}

/** In order; the first has the number 1. A new one goes to the end. */
export const migrations: readonly Migration[] = [
  first,
  keysAndSecrets,
  reparses,
  upkeepState,
  forgetting,
  samplesVersions,
  users,
  deliveryPages,
];
