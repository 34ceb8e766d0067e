import { sql, type Transaction } from 'kysely';
import type { NewSecret } from './catalog.ts';
import type { Db, Schema } from './schema.ts';

/**
 * A source's signing secrets (specification, "Webhook signing secret"). The current one has no
 * end and is the newest; at most one older one still works.
 *
 * Ordering: every change of them holds the lock of their source.
 */

/** Adds the current secret; the one before must have its end by then. */
export async function insertSecret(
  at: Db,
  trx: Transaction<Schema>,
  sourceId: number,
  secret: NewSecret,
  now: number,
): Promise<void> {
  await trx
    .insertInto('signing_secrets')
    .values({
      uuid: at.dialect.uuid.toDb(secret.secretId),
      source_id: sourceId,
      sealed: secret.sealed,
      created_at: now,
      ends_at: null,
      last_used_at: null,
    })
    .execute();
}

/** Ends every secret that still works now; those that have ended keep their time. */
export async function endSecrets(
  trx: Transaction<Schema>,
  sourceId: number,
  now: number,
): Promise<void> {
  await trx
    .updateTable('signing_secrets')
    .set({ ends_at: now })
    .where('source_id', '=', sourceId)
    .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', now)]))
    .execute();
}

/** The current secret works on until `oldEndsAt`, the one before it ends now. */
export async function rotateSecrets(
  trx: Transaction<Schema>,
  sourceId: number,
  oldEndsAt: number,
  now: number,
): Promise<void> {
  await trx
    .updateTable('signing_secrets')
    .set({
      ends_at: sql<number>`case when ends_at is null
        then cast(${oldEndsAt} as bigint) else ${now} end`,
    })
    .where('source_id', '=', sourceId)
    .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', now)]))
    .execute();
}
