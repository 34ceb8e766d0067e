import { fileURLToPath } from 'node:url';
import { isPostgres } from '../../../src/catalog/open.ts';
import { fileSeen } from './catalog-seen-file.ts';
import { postgresSeen } from './catalog-seen-postgres.ts';
import type { CatalogDelivery, Evidence } from './evidence.ts';

/**
 * The catalog as anybody sees it who may read its database: by SQL, past the service's own code
 * where that could hide a defect. Nothing is kept between two reads.
 */
export interface CatalogSeen {
  /** How many deliveries are not final yet. */
  waiting(): Promise<number>;
  /** In accepted order. */
  deliveries(): Promise<readonly DeliveryRow[]>;
  /** In the order in which each delivery was named. */
  keys(): Promise<readonly { sequence: number; key: string }[]>;
  conflicts(): Promise<Evidence['conflicts']>;
}

export type DeliveryRow = Omit<CatalogDelivery, 'keys' | 'place'> & CatalogDelivery['place'];

/** @param url as `openCatalog` takes it */
export function openCatalogSeen(url: string): CatalogSeen {
  if (isPostgres(url)) return postgresSeen(url);
  return fileSeen(fileURLToPath(url.replace(/^sqlite:/, 'file:')));
}

/** What the oracle judges of a catalog. */
export async function readCatalog(
  seen: CatalogSeen,
): Promise<Pick<Evidence, 'deliveries' | 'conflicts'>> {
  const keys = Map.groupBy(await seen.keys(), (one) => one.sequence);
  const deliveries = (await seen.deliveries()).map(({ object, offset, length, ...row }) => ({
    ...row,
    keys: (keys.get(row.sequence) ?? []).map((one) => one.key),
    place: { object, offset, length },
  }));
  return { deliveries, conflicts: await seen.conflicts() };
}
