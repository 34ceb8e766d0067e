import { z } from 'zod';
import type {
  Challenge,
  NewPasskey,
  Passkey,
  User,
  UserOfCompany,
  Users,
} from '../catalog/users-contract.ts';
import type {
  Assertion,
  Attestation,
  CreationOptions,
  RequestOptions,
} from '../domain/api/app/passkey.ts';
import { AppError } from '../domain/app-errors.ts';

/** How long a challenge serves, and how long a browser waits for the user. */
const challengeMs = 5 * 60_000;

/** With the first passkey: it takes 0.2 s and 24 MB, and many processes are never asked for one. */
const library = () => import('@simplewebauthn/server');

/** EdDSA, ES256, RS256: what every authenticator has one of. */
const algorithms = [-8, -7, -257];

type Kept = Pick<
  Users,
  'passkey' | 'passkeys' | 'notePasskeyUse' | 'putChallenge' | 'takeChallenge'
>;

/** What of the client's data is judged here; the library judges the rest. */
const clientData = z.object({
  // Not every catalog can be asked for any text.
  challenge: z.string().regex(/^[A-Za-z0-9_-]+$/),
  crossOrigin: z.boolean().optional(),
});

/**
 * Makes and checks passkeys (WebAuthn Level 3, sections 7.1 and 7.2): discoverable ones, which say
 * themselves whose they are, and which check who holds them. Each answer must be to a challenge
 * that was made for its purpose and user, serves once, and is over after five minutes.
 */
export class Passkeys {
  readonly #users: Kept;
  /** The name that passkeys belong to. */
  readonly #rpId: string;
  readonly #origin: string;

  /** @param appUrl as browsers reach the app */
  constructor(users: Kept, appUrl: string) {
    this.#users = users;
    const { hostname, origin } = new URL(appUrl);
    this.#rpId = hostname;
    this.#origin = origin;
  }

  /** For a sign-in, or (with `user`) for another check of who is signed in. */
  async requestOptions(user: User | null, now: number): Promise<RequestOptions> {
    const own = user && (await this.#users.passkeys(user.userId));
    const { generateAuthenticationOptions } = await library();
    const made = await generateAuthenticationOptions({
      ...{ rpID: this.#rpId, timeout: challengeMs, userVerification: 'required' },
      ...(own ? { allowCredentials: own.map(named) } : {}),
    });
    const purpose = user ? 'confirm' : 'sign in';
    await this.#keep(made.challenge, purpose, user, now);
    return made as RequestOptions;
  }

  /**
   * Whose passkey was checked.
   *
   * @param user who must have it; null: who signs in
   * @throws AppError `passkey_refused`
   */
  async check(passkey: Assertion, user: User | null, now: number): Promise<User> {
    const { id, response } = passkey;
    const purpose = user ? 'confirm' : 'sign in';
    const challenge = await this.#take(response.clientDataJSON, purpose, user, now);
    const known = await this.#users.passkey(id);
    if (!known || (user && known.user.userId !== user.userId)) throw notKnown();
    // Without a list of credentials the authenticator has to say whose it is (section 7.2, 6).
    const { userHandle } = response;
    const says = userHandle === handleOf(known.user);
    if (!says && (user === null || userHandle !== undefined)) throw notKnown();
    const { verifyAuthenticationResponse } = await library();
    const { verified, authenticationInfo } = await refusedAsPasskey(() =>
      verifyAuthenticationResponse({
        ...{ response: { ...passkey, clientExtensionResults: {} }, expectedChallenge: challenge },
        ...{ expectedOrigin: this.#origin, expectedRPID: this.#rpId },
        credential: {
          ...named(known),
          publicKey: Uint8Array.from(known.publicKey),
          counter: known.counter,
        },
        requireUserVerification: true,
      }),
    );
    if (!verified) throw notKnown();
    await this.#users.notePasskeyUse(id, authenticationInfo.newCounter, now);
    return known.user;
  }

  /** For who is invited. A passkey that the user has already is not made twice. */
  async creationOptions({ user, company }: UserOfCompany, now: number): Promise<CreationOptions> {
    const { generateRegistrationOptions } = await library();
    const made = await generateRegistrationOptions({
      ...{ rpName: 'weir', rpID: this.#rpId, timeout: challengeMs, attestationType: 'none' },
      ...{ userID: Uint8Array.from(handleBytes(user)), userName: user.email },
      userDisplayName: `${user.email} (${company.name})`,
      excludeCredentials: (await this.#users.passkeys(user.userId)).map(named),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: algorithms,
    });
    await this.#keep(made.challenge, 'register', user, now);
    return made as CreationOptions;
  }

  /**
   * A passkey that was made for this user.
   *
   * @throws AppError `passkey_refused`
   */
  async made(passkey: Attestation, user: User, now: number): Promise<NewPasskey> {
    const { clientDataJSON, transports = [] } = passkey.response;
    const challenge = await this.#take(clientDataJSON, 'register', user, now);
    const { verifyRegistrationResponse } = await library();
    const { registrationInfo } = await refusedAsPasskey(() =>
      verifyRegistrationResponse({
        response: {
          ...{ ...passkey, clientExtensionResults: {} },
          response: { ...passkey.response, transports },
        },
        ...{ expectedChallenge: challenge, expectedOrigin: this.#origin },
        ...{ expectedRPID: this.#rpId, requireUserVerification: true },
        supportedAlgorithmIDs: algorithms,
      }),
    );
    if (!registrationInfo) throw notKnown();
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
  }

  #keep(challenge: string, purpose: Challenge['purpose'], user: User | null, now: number) {
    const about = { challenge, purpose, userId: user?.userId ?? null };
    return this.#users.putChallenge({ ...about, endsAt: now + challengeMs }, now);
  }

  /** Takes the challenge that an answer says it is to; it serves no other answer from then on. */
  async #take(
    clientDataJSON: string,
    purpose: Challenge['purpose'],
    user: User | null,
    now: number,
  ): Promise<string> {
    const { challenge, crossOrigin } = clientDataOf(clientDataJSON);
    const taken = await this.#users.takeChallenge(challenge, now);
    const isFor = taken?.purpose === purpose && taken.userId === (user?.userId ?? null);
    if (!taken || !isFor) {
      throw refused('This check was answered already, or took too long. Try again.');
    }
    // The app is never shown inside another site's page.
    if (crossOrigin) throw notKnown();
    return challenge;
  }
}

function clientDataOf(text: string): z.infer<typeof clientData> {
  try {
    return clientData.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    throw notKnown();
  }
}

/** The library throws for whatever is wrong with an answer; it asks nobody else. */
async function refusedAsPasskey<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch {
    throw notKnown();
  }
}

/** One answer for all causes. */
function notKnown(): AppError {
  return refused('This passkey does not open this app.');
}

function refused(message: string): AppError {
  return new AppError('passkey_refused', message);
}

function named({ credentialId, transports }: Passkey): { id: string; transports: string[] } {
  return { id: credentialId, transports: [...transports] };
}

/** A passkey tells it at the sign-in; it says nothing about the person (section 14.6.1). */
function handleBytes({ userId }: User): Buffer {
  return Buffer.from(userId.replaceAll('-', ''), 'hex');
}

function handleOf(user: User): string {
  return handleBytes(user).toString('base64url');
}
