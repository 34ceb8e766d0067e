import { type Kysely, sql, type Transaction } from 'kysely';
import { keyIsLive } from '../domain/keys.ts';
import type { AccessKey } from '../domain/nouns.ts';
import { CatalogRefusal, type NewKey, type NextKey, type Use } from './catalog.ts';
import { lockSource, sourceIn } from './locks.ts';
import { keyOf, selectKeys } from './rows.ts';
import type { Db, Schema } from './schema.ts';

/** Access keys as they are made, rotated, revoked and used (specification, "Access keys"). */

export async function createKey(
  at: Db,
  trx: Transaction<Schema>,
  key: NewKey,
  now: number,
): Promise<AccessKey> {
  const { id } = await lockSource(at, trx, key.sourceId);
  const source = (await sourceIn(at, trx, key.sourceId))!;
  // Webhook deliveries are never sandbox; a sandbox key of such a source can only read.
  if (source.delivery === 'webhook' && key.sandbox && key.scope !== 'read') {
    const message = "A webhook source's sandbox key can only have the scope read.";
    throw new CatalogRefusal('webhook_sandbox_key', message, 'scope');
  }
  await insertKey(at, trx, id, key, now);
  return (await keyIn(at, trx, key.keyId))!;
}

/**
 * The old key works on until the overlap ends, or its own expiry if that is earlier; the row lock
 * lets only one of two rotations find it not rotated.
 */
export async function rotateKey(
  at: Db,
  trx: Transaction<Schema>,
  keyId: string,
  next: NextKey,
  now: number,
): Promise<AccessKey> {
  const { uuid } = at.dialect;
  const select = trx
    .selectFrom('access_keys')
    .select(['id', 'source_id', 'expires_at'])
    .where('uuid', '=', uuid.toDb(keyId));
  const row = await at.dialect.lockRows(select, 'wait').executeTakeFirst();
  const old = row && (await keyIn(at, trx, keyId));
  if (!old) throw new CatalogRefusal('key_not_found', 'There is no such key.');
  const why = whyNotRotatable(old, now);
  if (why) throw new CatalogRefusal('key_not_rotatable', `This key ${why}: it cannot be rotated.`);
  await insertKey(at, trx, row.source_id, { ...old, ...next }, now);
  await trx
    .updateTable('access_keys')
    .set({
      rotated_to: uuid.toDb(next.keyId),
      expires_at: Math.min(row.expires_at, next.overlapEndsAt),
    })
    .where('id', '=', row.id)
    .execute();
  return (await keyIn(at, trx, next.keyId))!;
}

function whyNotRotatable(key: AccessKey, now: number): string | null {
  if (key.revokedAt !== null) return 'is revoked';
  if (key.rotatedTo !== null) return 'was rotated already';
  return keyIsLive(key, now) ? null : 'has expired';
}

export async function revokeKey(
  at: Db,
  trx: Transaction<Schema>,
  keyId: string,
  now: number,
): Promise<AccessKey> {
  await trx
    .updateTable('access_keys')
    .set({ revoked_at: sql<number>`coalesce(revoked_at, ${now})` })
    .where('uuid', '=', at.dialect.uuid.toDb(keyId))
    .execute();
  const key = await keyIn(at, trx, keyId);
  if (!key) throw new CatalogRefusal('key_not_found', 'There is no such key.');
  return key;
}

/** Sorted, so that two writers never wait for one another in a circle. */
export async function noteUses(
  at: Db,
  trx: Transaction<Schema>,
  table: 'access_keys' | 'signing_secrets',
  uses: readonly Use[],
): Promise<void> {
  for (const use of [...uses].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    await trx
      .updateTable(table)
      .set({ last_used_at: use.at })
      .where('uuid', '=', at.dialect.uuid.toDb(use.id))
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', use.at)]))
      .execute();
  }
}

export async function keyIn(at: Db, db: Kysely<Schema>, keyId: string): Promise<AccessKey | null> {
  const select = selectKeys(db).where('k.uuid', '=', at.dialect.uuid.toDb(keyId));
  const row = await select.executeTakeFirst();
  return row ? keyOf(at, row) : null;
}

async function insertKey(
  { dialect }: Db,
  trx: Transaction<Schema>,
  sourceId: number,
  key: Omit<NewKey, 'sourceId'>,
  now: number,
): Promise<void> {
  const uuid = dialect.uuid.toDb(key.keyId);
  const taken = await trx
    .selectFrom('access_keys')
    .select('id')
    .where((eb) => eb.or([eb('uuid', '=', uuid), eb('hash', '=', key.hash)]))
    .executeTakeFirst();
  if (taken) throw new CatalogRefusal('key_exists', 'This key exists already.');
  await trx
    .insertInto('access_keys')
    .values({
      uuid,
      source_id: sourceId,
      hash: key.hash,
      scope: key.scope,
      sandbox: dialect.bool.toDb(key.sandbox),
      demo: dialect.bool.toDb(key.demo ?? false),
      created_at: now,
      expires_at: key.expiresAt,
      last_used_at: null,
      revoked_at: null,
      rotated_to: null,
    })
    .execute();
}
