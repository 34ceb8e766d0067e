import type { Kysely, Transaction } from 'kysely';
import { limits } from '../domain/limits.ts';
import { CatalogRefusal } from './catalog.ts';
import type { DbUuid } from './dialect.ts';
import { lockCompany } from './locks.ts';
import { once } from './once.ts';
import { companyOf } from './rows.ts';
import type { Db, Schema } from './schema.ts';
import type {
  NewInvitation,
  NewPasskey,
  Passkey,
  User,
  UserOfCompany,
  Users,
} from './users-contract.ts';

export type UsersReads = Pick<Users, 'list' | 'invitation' | 'passkey' | 'passkeys' | 'session'>;
export type UsersWrites = Omit<Users, keyof UsersReads>;

export function usersReads(at: Db): UsersReads {
  const { db, dialect } = at;
  const session = sessionQuery(db);
  return {
    async list(companyId) {
      const ofCompany = selectUsers(db).where('c.uuid', '=', dialect.uuid.toDb(companyId));
      return (await ofCompany.orderBy('u.id').execute()).map((row) => userOf(at, row).user);
    },
    async invitation(hash, now) {
      const row = await selectUsers(db)
        .innerJoin('invitations as i', 'i.user_id', 'u.id')
        .where('i.hash', '=', hash)
        .where('i.ends_at', '>', now)
        .executeTakeFirst();
      return row ? userOf(at, row) : null;
    },
    async passkey(credentialId) {
      const row = await selectUsers(db)
        .innerJoin('passkeys as p', 'p.user_id', 'u.id')
        .select(passkeyColumns)
        .where('p.credential_id', '=', credentialId)
        .executeTakeFirst();
      return row ? { ...passkeyOf(row), ...userOf(at, row) } : null;
    },
    async passkeys(userId) {
      const rows = await db
        .selectFrom('passkeys as p')
        .innerJoin('users as u', 'u.id', 'p.user_id')
        .select(passkeyColumns)
        .where('u.uuid', '=', dialect.uuid.toDb(userId))
        .orderBy('p.id')
        .execute();
      return rows.map(passkeyOf);
    },
    async session(hash, now) {
      const [row] = (await session.run(db, { hash, now })).rows;
      if (!row) return null;
      return { ...userOf(at, row), signedInAt: row.signed_in_at, endsAt: row.ends_at };
    },
  };
}

/** Each is one transaction, so that a link, a challenge and a passkey serve one caller only. */
export function usersWrites(at: Db): UsersWrites {
  const { db, dialect } = at;
  const transact = <T>(work: (trx: Transaction<Schema>) => Promise<T>) =>
    db.transaction().execute(work);
  return {
    invite: (invitation, now) => transact((trx) => invite(at, trx, invitation, now)),
    remove: (companyId, email) => transact((trx) => remove(at, trx, companyId, email)),
    acceptInvitation: (hash, passkey, now) =>
      transact((trx) => acceptInvitation(at, trx, hash, passkey, now)),
    async notePasskeyUse(credentialId, counter, now) {
      await db
        .updateTable('passkeys')
        .set({ counter, last_used_at: now })
        .where('credential_id', '=', credentialId)
        .where('counter', '<=', counter)
        .execute();
    },
    putChallenge: ({ challenge, purpose, userId, endsAt }, now) =>
      transact(async (trx) => {
        await trx.deleteFrom('challenges').where('ends_at', '<=', now).execute();
        const user_uuid = userId === null ? null : dialect.uuid.toDb(userId);
        const { id } = await trx
          .insertInto('challenges')
          .values({ challenge, purpose, user_uuid, ends_at: endsAt })
          .returning('id')
          .executeTakeFirstOrThrow();
        const oldest = id - limits.challengesMax;
        await trx.deleteFrom('challenges').where('id', '<=', oldest).execute();
      }),
    async takeChallenge(challenge, now) {
      const row = await db
        .deleteFrom('challenges')
        .where('challenge', '=', challenge)
        .returning(['purpose', 'user_uuid', 'ends_at'])
        .executeTakeFirst();
      if (!row || row.ends_at <= now) return null;
      const userId = row.user_uuid === null ? null : dialect.uuid.fromDb(row.user_uuid);
      return { challenge, purpose: row.purpose, userId, endsAt: row.ends_at };
    },
    startSession: ({ hash, userId, endsAt }, now) =>
      transact(async (trx) => {
        await trx.deleteFrom('sessions').where('ends_at', '<=', now).execute();
        const { id } = await trx
          .selectFrom('users')
          .select('id')
          .where('uuid', '=', dialect.uuid.toDb(userId))
          .executeTakeFirstOrThrow(() => refusal('user_not_found', 'There is no such user.'));
        const row = { hash, user_id: id, signed_in_at: now, ends_at: endsAt };
        await trx.insertInto('sessions').values(row).execute();
      }),
    async noteSignIn(hash, now) {
      await db
        .updateTable('sessions')
        .set({ signed_in_at: now })
        .where('hash', '=', hash)
        .execute();
    },
    async endSession(hash) {
      await db.deleteFrom('sessions').where('hash', '=', hash).execute();
    },
  };
}

async function invite(
  at: Db,
  trx: Transaction<Schema>,
  invitation: NewInvitation,
  now: number,
): Promise<User> {
  const company = await lockCompany(at, trx, invitation.companyId);
  const { hash, email, endsAt } = invitation;
  const permissions = JSON.stringify(invitation.permissions);
  const known = await userIdIn(trx, company.id, email);
  if (known !== undefined) {
    await trx.updateTable('users').set({ permissions }).where('id', '=', known).execute();
    await trx.deleteFrom('invitations').where('user_id', '=', known).execute();
  } else {
    const row = { email, email_folded: folded(email), permissions, created_at: now };
    const uuid = at.dialect.uuid.toDb(invitation.userId);
    await trx
      .insertInto('users')
      .values({ uuid, company_id: company.id, ...row })
      .execute();
  }
  const userId = (await userIdIn(trx, company.id, email))!;
  await trx.insertInto('invitations').values({ hash, user_id: userId, ends_at: endsAt }).execute();
  const made = await selectUsers(trx).where('u.id', '=', userId).executeTakeFirstOrThrow();
  return userOf(at, made).user;
}

async function remove(
  at: Db,
  trx: Transaction<Schema>,
  companyId: string,
  email: string,
): Promise<boolean> {
  const company = await lockCompany(at, trx, companyId);
  const userId = await userIdIn(trx, company.id, email);
  if (userId === undefined) return false;
  for (const table of ['invitations', 'passkeys', 'sessions'] as const) {
    await trx.deleteFrom(table).where('user_id', '=', userId).execute();
  }
  await trx.deleteFrom('users').where('id', '=', userId).execute();
  return true;
}

async function acceptInvitation(
  at: Db,
  trx: Transaction<Schema>,
  hash: Buffer,
  passkey: NewPasskey,
  now: number,
): Promise<User | null> {
  const used = await trx
    .deleteFrom('invitations')
    .where('hash', '=', hash)
    .where('ends_at', '>', now)
    .returning('user_id')
    .executeTakeFirst();
  if (!used) return null;
  const { credentialId, publicKey, counter } = passkey;
  const taken = await trx
    .selectFrom('passkeys')
    .select('id')
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
  if (taken) throw refusal('passkey_exists', 'This passkey is in use already.');
  await trx
    .insertInto('passkeys')
    .values({
      user_id: used.user_id,
      credential_id: credentialId,
      public_key: publicKey,
      counter,
      transports: JSON.stringify(passkey.transports),
      created_at: now,
      last_used_at: null,
    })
    .execute();
  const row = await selectUsers(trx).where('u.id', '=', used.user_id).executeTakeFirstOrThrow();
  return userOf(at, row).user;
}

async function userIdIn(
  trx: Transaction<Schema>,
  company: number,
  email: string,
): Promise<number | undefined> {
  const row = await trx
    .selectFrom('users')
    .select('id')
    .where('company_id', '=', company)
    .where('email_folded', '=', folded(email))
    .executeTakeFirst();
  return row?.id;
}

/** As emails are compared: who writes a capital means the same person. */
function folded(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

function selectUsers(db: Kysely<Schema>) {
  return db
    .selectFrom('users as u')
    .innerJoin('companies as c', 'c.id', 'u.company_id')
    .select(['u.uuid as user_uuid', 'u.email', 'u.permissions', 'u.created_at as user_created_at'])
    .select(['c.uuid as company_uuid', 'c.name as company_name', 'c.timezone']);
}

/** Every request of a page asks this. */
function sessionQuery(db: Kysely<Schema>) {
  return once<{ hash: Buffer; now: number }>()((p) =>
    selectUsers(db)
      .innerJoin('sessions as s', 's.user_id', 'u.id')
      .select(['s.signed_in_at', 's.ends_at'])
      .where('s.hash', '=', p.hash)
      .where('s.ends_at', '>', p.now),
  );
}

function userOf(
  at: Pick<Db, 'dialect'>,
  row: {
    user_uuid: DbUuid;
    email: string;
    permissions: string;
    user_created_at: number;
    company_uuid: DbUuid;
    company_name: string;
    timezone: string;
  },
): UserOfCompany {
  const company = companyOf(at, row);
  const user: User = {
    userId: at.dialect.uuid.fromDb(row.user_uuid),
    companyId: company.companyId,
    email: row.email,
    permissions: JSON.parse(row.permissions),
    createdAt: row.user_created_at,
  };
  return { user, company };
}

const passkeyColumns = [
  'p.credential_id',
  'p.public_key',
  'p.counter',
  'p.transports',
  'p.created_at',
  'p.last_used_at',
] as const;

function passkeyOf(row: {
  credential_id: string;
  public_key: Buffer;
  counter: number;
  transports: string;
  created_at: number;
  last_used_at: number | null;
}): Passkey {
  return {
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

function refusal(code: string, message: string): CatalogRefusal {
  return new CatalogRefusal(code, message);
}
