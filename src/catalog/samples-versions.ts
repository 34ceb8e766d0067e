import { sql, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** In `samples_versions` and `settle_turns`, where others have the id of their source. */
export const allSources = 0;

/**
 * Tells that reads of sources may show something else from this transaction on.
 *
 * A number never falls behind the milliseconds since 1970, so that a catalog restored from a
 * backup gives none twice. Sorted, so that two writers never wait for one another in a circle; it
 * comes last in its transaction for the same reason.
 *
 * @param sources ids; `allSources`: every one
 */
export async function raiseSamplesVersions(
  trx: Transaction<Schema>,
  sources: Iterable<number>,
  now: number,
): Promise<void> {
  for (const source of [...new Set(sources)].sort((a, b) => a - b)) {
    await trx
      .insertInto('samples_versions')
      .values({ source_id: source, version: Math.max(now, 1) })
      .onConflict((conflict) =>
        conflict.column('source_id').doUpdateSet({
          version: sql<number>`case when samples_versions.version < ${now}
            then ${now} else samples_versions.version + 1 end`,
        }),
      )
      .execute();
  }
}
