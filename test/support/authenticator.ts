import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type {
  Assertion,
  Attestation,
  CreationOptions,
  RequestOptions,
} from '../../src/domain/api/app/passkey.ts';

/** What is said instead of the truth; the signature is over what is said. */
export interface Lie {
  /** Of the client's data: what the browser says. */
  readonly client?: {
    readonly type?: string;
    readonly challenge?: string;
    readonly origin?: string;
    readonly crossOrigin?: boolean;
  };
  readonly rpId?: string;
  /** Whether it checked who holds it. */
  readonly verified?: boolean;
  readonly userHandle?: string;
  /** It counts from here on. */
  readonly counter?: number;
}

interface Passkey {
  readonly id: Buffer;
  readonly key: KeyObject;
  readonly userHandle: string;
  counter: number;
}

const flags = { present: 0x01, verified: 0x04, attested: 0x40 };

/**
 * An authenticator in software (WebAuthn Level 3, section 6): discoverable ES256 passkeys without
 * attestation. It does what its options say, as the browser of a page at `origin` has it do.
 *
 * Tests that only need somebody who is signed in take `signedIn` (`signed-in.ts`).
 */
export class Authenticator {
  readonly origin: string;
  readonly passkeys: Passkey[] = [];

  constructor(origin: string) {
    this.origin = origin;
  }

  /** `navigator.credentials.create`. */
  create(options: CreationOptions, lie: Lie = {}): Attestation {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const id = randomBytes(16);
    const passkey = { id, key: privateKey, userHandle: options.user.id, counter: 0 };
    this.passkeys.push(passkey);
    const { x, y } = publicKey.export({ format: 'jwk' });
    const coseKey = cbor(
      new Map<number, number | Buffer>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ]),
    );
    const length = Buffer.of(id.length >> 8, id.length & 255);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey]);
    const authData = authenticatorData(options.rp.id, 0, lie, attested);
    const object = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    const client = this.#clientData('webauthn.create', options.challenge, lie);
    return {
      ...{ id: text(id), rawId: text(id), type: 'public-key' },
      response: {
        ...{ clientDataJSON: text(client), attestationObject: text(cbor(object)) },
        transports: ['internal'],
      },
    };
  }

  /** `navigator.credentials.get`, with the newest passkey that the options allow. */
  get(options: RequestOptions, lie: Lie = {}): Assertion {
    const { allowCredentials } = options;
    const allowed = this.passkeys.filter(
      ({ id }) => !allowCredentials || allowCredentials.some((one) => one.id === text(id)),
    );
    const passkey = allowed.at(-1);
    if (!passkey) throw new Error('the authenticator has no passkey for this');
    return this.assert(passkey, options, lie);
  }

  /** As `get`, with this passkey whatever the options allow. */
  assert(passkey: Passkey, options: RequestOptions, lie: Lie = {}): Assertion {
    passkey.counter = lie.counter ?? passkey.counter + 1;
    const authData = authenticatorData(options.rpId, passkey.counter, lie);
    const client = this.#clientData('webauthn.get', options.challenge, lie);
    const signed = Buffer.concat([authData, sha256(client)]);
    const id = text(passkey.id);
    return {
      ...{ id, rawId: id, type: 'public-key' },
      response: {
        ...{ clientDataJSON: text(client), authenticatorData: text(authData) },
        signature: text(sign('sha256', signed, passkey.key)),
        userHandle: lie.userHandle ?? passkey.userHandle,
      },
    };
  }

  #clientData(type: string, challenge: string, lie: Lie): Buffer {
    const { origin } = this;
    const data = { type, challenge, origin, crossOrigin: false, ...lie.client };
    return Buffer.from(JSON.stringify(data));
  }
}

/** Section 6.1. */
function authenticatorData(rpId: string, counter: number, lie: Lie, attested?: Buffer): Buffer {
  const verified = (lie.verified ?? true) ? flags.verified : 0;
  const flag = flags.present | verified | (attested ? flags.attested : 0);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const head = [sha256(Buffer.from(lie.rpId ?? rpId)), Buffer.of(flag), count];
  return Buffer.concat([...head, ...(attested ? [attested] : [])]);
}

/** Whole numbers, texts, bytes and maps as CBOR (RFC 8949, section 3). */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value]);
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([cborHead(3, bytes.length), bytes]);
  }
  if (!(value instanceof Map)) throw new Error('this is not written as CBOR');
  const pairs = [...value].flatMap(([name, one]) => [cbor(name), cbor(one)]);
  return Buffer.concat([cborHead(5, value.size), ...pairs]);
}

function cborHead(major: number, n: number): Buffer {
  const type = major << 5;
  if (n < 24) return Buffer.of(type | n);
  if (n < 256) return Buffer.of(type | 24, n);
  return Buffer.of(type | 25, n >> 8, n & 255);
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function text(bytes: Buffer): string {
  return bytes.toString('base64url');
}
