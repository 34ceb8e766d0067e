import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/catalog.ts';
import type {
  Challenge,
  NewInvitation,
  NewPasskey,
  User,
} from '../../../src/catalog/users-contract.ts';
import { seedCompany } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

const nobody = randomUUID();

export function usersContract(on: Subject): void {
  it('invites a user, who takes the link once and keeps a passkey over a restart', async () => {
    const company = await seedCompany(on.catalog);
    const invitation = newInvitation(company.companyId);
    const { userId, email, permissions, hash } = invitation;
    const made = await on.catalog.users.invite(invitation, 1_000);
    const user = { userId, companyId: company.companyId, email, permissions, createdAt: 1_000 };
    expect(made).toEqual(user);
    expect(await on.catalog.users.invitation(hash, 8_999)).toEqual({ user, company });
    expect(await on.catalog.users.invitation(hash, 9_000)).toBeNull();
    const passkey = newPasskey();
    expect(await on.catalog.users.acceptInvitation(hash, passkey, 9_000)).toBeNull();
    expect(await on.catalog.users.acceptInvitation(hash, passkey, 8_999)).toEqual(user);
    expect(await on.catalog.users.acceptInvitation(hash, newPasskey(), 8_999)).toBeNull();
    expect(await on.catalog.users.invitation(hash, 8_999)).toBeNull();
    await on.reopen();
    const kept = { ...passkey, createdAt: 8_999, lastUsedAt: null };
    expect(await on.catalog.users.passkeys(userId)).toEqual([kept]);
    const found = await on.catalog.users.passkey(passkey.credentialId);
    expect(found).toEqual({ ...kept, user, company });
    expect(await on.catalog.users.passkey('of-nobody')).toBeNull();
  });

  it('invites the same email again with new permissions and a new link only', async () => {
    const { companyId } = await seedCompany(on.catalog);
    const first = newInvitation(companyId, { email: 'Zoë@Example.com' });
    const user = await on.catalog.users.invite(first, 1_000);
    const again = newInvitation(companyId, {
      email: 'zoë@example.COM',
      permissions: ['sources.read', 'sources.manage'],
    });
    const same = await on.catalog.users.invite(again, 2_000);
    expect(same).toEqual({ ...user, permissions: again.permissions });
    expect(await on.catalog.users.invitation(first.hash, 2_000)).toBeNull();
    expect((await on.catalog.users.invitation(again.hash, 2_000))?.user).toEqual(same);
    const other = await seedCompany(on.catalog, 'Other');
    const elsewhere = newInvitation(other.companyId, { email: 'zoë@example.com' });
    expect((await on.catalog.users.invite(elsewhere, 3_000)).userId).not.toBe(user.userId);
    expect(await on.catalog.users.list(companyId)).toEqual([same]);
    const lost = on.catalog.users.invite(newInvitation(nobody), 1_000);
    await expect(lost).rejects.toMatchObject({ code: 'company_not_found' });
  });

  it('refuses a credential that is somebody’s already, and keeps the link then', async () => {
    const { companyId } = await seedCompany(on.catalog);
    const { passkey } = await seedUser(on.catalog, companyId);
    const invitation = newInvitation(companyId);
    await on.catalog.users.invite(invitation, 1_000);
    const taken = on.catalog.users.acceptInvitation(invitation.hash, passkey, 2_000);
    await expect(taken).rejects.toMatchObject({ code: 'passkey_exists' });
    expect(await on.catalog.users.invitation(invitation.hash, 2_000)).not.toBeNull();
  });

  it('puts the counter of a passkey forward, never back', async () => {
    const { companyId } = await seedCompany(on.catalog);
    const { user, passkey } = await seedUser(on.catalog, companyId);
    const { credentialId } = passkey;
    await on.catalog.users.notePasskeyUse(credentialId, 7, 3_000);
    await on.catalog.users.notePasskeyUse(credentialId, 6, 4_000);
    const [kept] = await on.catalog.users.passkeys(user.userId);
    expect(kept).toMatchObject({ counter: 7, lastUsedAt: 3_000 });
  });

  it('gives a challenge out once, and not after its end', async () => {
    const one = newChallenge({ userId: nobody, purpose: 'confirm' });
    const late = newChallenge();
    await on.catalog.users.putChallenge(one, 1_000);
    await on.catalog.users.putChallenge(late, 1_000);
    const another = await on.another();
    const taken = await Promise.all([
      on.catalog.users.takeChallenge(one.challenge, 8_999),
      another.users.takeChallenge(one.challenge, 8_999),
    ]);
    expect(taken.filter(Boolean)).toEqual([one]);
    expect(await on.catalog.users.takeChallenge(late.challenge, 9_000)).toBeNull();
    expect(await on.catalog.users.takeChallenge(late.challenge, 8_999)).toBeNull();
  });

  it('knows a session until it ends, by itself or by its user, seen by all at once', async () => {
    const company = await seedCompany(on.catalog);
    const { user } = await seedUser(on.catalog, company.companyId);
    const [hash, other] = [randomBytes(32), randomBytes(32)];
    for (const one of [hash, other]) {
      await on.catalog.users.startSession({ hash: one, userId: user.userId, endsAt: 9_000 }, 5_000);
    }
    const session = { user, company, signedInAt: 5_000, endsAt: 9_000 };
    expect(await on.catalog.users.session(hash, 8_999)).toEqual(session);
    expect(await on.catalog.users.session(hash, 9_000)).toBeNull();
    expect(await on.catalog.users.session(randomBytes(32), 6_000)).toBeNull();
    await on.catalog.users.noteSignIn(hash, 6_000);
    const another = await on.another();
    expect(await another.users.session(hash, 7_000)).toEqual({ ...session, signedInAt: 6_000 });
    await another.users.endSession(hash);
    expect(await on.catalog.users.session(hash, 7_000)).toBeNull();
    expect(await on.catalog.users.session(other, 7_000)).toEqual(session);
    const lost = { hash: randomBytes(32), userId: nobody, endsAt: 9_000 };
    const started = on.catalog.users.startSession(lost, 5_000);
    await expect(started).rejects.toMatchObject({ code: 'user_not_found' });
  });

  it('removes a user with all that was theirs', async () => {
    const { companyId } = await seedCompany(on.catalog);
    const { user, passkey } = await seedUser(on.catalog, companyId);
    const stays = await seedUser(on.catalog, companyId);
    const [hash, link] = [randomBytes(32), randomBytes(32)];
    await on.catalog.users.startSession({ hash, userId: user.userId, endsAt: 9_000 }, 5_000);
    const again = newInvitation(companyId, { email: user.email, hash: link });
    await on.catalog.users.invite(again, 5_000);
    expect(await on.catalog.users.remove(companyId, user.email.toUpperCase())).toBe(true);
    expect(await on.catalog.users.session(hash, 6_000)).toBeNull();
    expect(await on.catalog.users.passkey(passkey.credentialId)).toBeNull();
    expect(await on.catalog.users.invitation(link, 6_000)).toBeNull();
    expect(await on.catalog.users.list(companyId)).toEqual([stays.user]);
    expect(await on.catalog.users.remove(companyId, user.email)).toBe(false);
  });
}

function newInvitation(companyId: string, over: Partial<NewInvitation> = {}): NewInvitation {
  const userId = randomUUID();
  const email = `${userId}@example.com`;
  const permissions = ['sources.read'] as const;
  return { userId, companyId, email, permissions, hash: randomBytes(32), endsAt: 9_000, ...over };
}

function newPasskey(): NewPasskey {
  const credentialId = randomBytes(16).toString('base64url');
  return { credentialId, publicKey: randomBytes(77), counter: 3, transports: ['internal', 'usb'] };
}

function newChallenge(over: Partial<Challenge> = {}): Challenge {
  const challenge = randomBytes(32).toString('base64url');
  return { challenge, purpose: 'sign in', userId: null, endsAt: 9_000, ...over };
}

async function seedUser(
  catalog: Catalog,
  companyId: string,
): Promise<{ user: User; passkey: NewPasskey }> {
  const invitation = newInvitation(companyId);
  await catalog.users.invite(invitation, 1_000);
  const passkey = newPasskey();
  const user = await catalog.users.acceptInvitation(invitation.hash, passkey, 2_000);
  return { user: user!, passkey };
}
