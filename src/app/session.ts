import type { User } from '../catalog/users-contract.ts';
import { AppError } from '../domain/app-errors.ts';
import type { Company } from '../domain/nouns.ts';
import type { Exchange } from '../http/exchange.ts';

/** Who asks, as far as the app knows. */
export interface SignedIn {
  readonly user: User;
  readonly company: Company;
  /** SHA-256 of the cookie's token; null for the visitor of a demo deployment. */
  readonly sessionHash: Buffer | null;
  /** When a passkey was last checked, milliseconds since 1970. */
  readonly signedInAt: number;
  readonly endsAt: number;
}

/** Finds out who asks; null: nobody is signed in. */
export type FindSession = (exchange: Exchange, now: number) => Promise<SignedIn | null>;

/** How long a passkey check opens keys and secrets; use does not extend it (DECISIONS 10). */
export const freshMs = 5 * 60_000;

export function isFresh({ signedInAt }: Pick<SignedIn, 'signedInAt'>, now: number): boolean {
  // One from the future is of a clock that was ahead and has been set back since.
  return signedInAt <= now && now < signedInAt + freshMs;
}

/** @throws AppError 403 `fresh_sign_in_needed` */
export function requireFresh(by: Pick<SignedIn, 'signedInAt'>, now: number): void {
  if (isFresh(by, now)) return;
  throw new AppError('fresh_sign_in_needed', 'Check your passkey once more, then do it again.');
}
