import type { Company } from '../domain/nouns.ts';

export type UserPermission = 'sources.read' | 'sources.manage';

/** A person of one company who uses the app. */
export interface User {
  readonly userId: string;
  readonly companyId: string;
  readonly email: string;
  /** What was granted; `sources.manage` holds `sources.read`. */
  readonly permissions: readonly UserPermission[];
  readonly createdAt: number;
}

/**
 * The app's users, their passkeys and sessions (`Catalog`). Of invitations and sessions only the
 * SHA-256 of their text is kept. Times are milliseconds since 1970 and ends are exclusive.
 */
export interface Users {
  /**
   * Makes a user, or finds the one of this company and email (compared without case), who gets
   * these permissions; an older invitation of that user ends. Unknown company:
   * `company_not_found`.
   */
  invite(invitation: NewInvitation, now: number): Promise<User>;
  /** Takes a user away with passkeys and sessions; false: the company has none of this email. */
  remove(companyId: string, email: string): Promise<boolean>;
  /** In the order in which they were made. */
  list(companyId: string): Promise<User[]>;
  /** Null: unknown, used or over. */
  invitation(hash: Buffer, now: number): Promise<UserOfCompany | null>;
  /**
   * Uses an invitation up and keeps the passkey; null: unknown, used or over. A credential that is
   * somebody's already is refused (`passkey_exists`).
   */
  acceptInvitation(hash: Buffer, passkey: NewPasskey, now: number): Promise<User | null>;
  /** Null: nobody's. */
  passkey(credentialId: string): Promise<(Passkey & UserOfCompany) | null>;
  passkeys(userId: string): Promise<Passkey[]>;
  /** Its counter only grows; last used now. */
  notePasskeyUse(credentialId: string, counter: number, now: number): Promise<void>;
  /** Keeps a challenge; those that are over go, and of too many the oldest (`challengesMax`). */
  putChallenge(challenge: Challenge, now: number): Promise<void>;
  /** Takes a challenge out: it serves once. Null: unknown, used or over. */
  takeChallenge(challenge: string, now: number): Promise<Challenge | null>;
  /** Keeps a session, signed in now; those that are over go. */
  startSession(session: NewSession, now: number): Promise<void>;
  /** Null: unknown or over. */
  session(hash: Buffer, now: number): Promise<Session | null>;
  /** A passkey was checked within the session. */
  noteSignIn(hash: Buffer, now: number): Promise<void>;
  endSession(hash: Buffer): Promise<void>;
}

export interface UserOfCompany {
  readonly user: User;
  readonly company: Company;
}

export interface NewInvitation {
  /** Of the user, if one is made. */
  readonly userId: string;
  readonly companyId: string;
  readonly email: string;
  readonly permissions: readonly UserPermission[];
  readonly hash: Buffer;
  readonly endsAt: number;
}

export interface NewPasskey {
  /** Base64url, as browsers give it. */
  readonly credentialId: string;
  /** COSE key. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
}

export interface Passkey extends NewPasskey {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface Challenge {
  /** Base64url. */
  readonly challenge: string;
  readonly purpose: 'sign in' | 'confirm' | 'register';
  /** Whom it was made for; null: nobody is known yet. */
  readonly userId: string | null;
  readonly endsAt: number;
}

export interface NewSession {
  readonly hash: Buffer;
  readonly userId: string;
  readonly endsAt: number;
}

export interface Session extends UserOfCompany {
  /** When a passkey was last checked. */
  readonly signedInAt: number;
  readonly endsAt: number;
}
