import { createCipheriv, createDecipheriv } from 'node:crypto';

/** Signing secrets (DECISIONS 1): 256 random bits as text, sealed at rest with AES-256-GCM. */

/** A webhook source's signing secret; its text is sealed. */
export interface SigningSecret {
  readonly secretId: string;
  readonly sealed: Buffer;
  readonly createdAt: number;
  /** Exclusive; null: it is the current one. */
  readonly endsAt: number | null;
  readonly lastUsedAt: number | null;
}

export const secretRandomBytes = 32;
export const sealNonceBytes = 12;
const tagBytes = 16;

/** @returns the secret as it is shown once and used, prefix included */
export function formatSecret(random: Buffer): string {
  return `whsec_${random.toString('base64url')}`;
}

/**
 * Seals a secret for the catalog: nonce, tag, ciphertext. The id is authenticated with it, so that
 * a sealed secret cannot be moved to another row.
 *
 * @param key 32 bytes (`WEIR_SECRET_KEY`)
 * @param nonce 12 random bytes, never used before with this key
 */
export function sealSecret(key: Buffer, nonce: Buffer, secretId: string, secret: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(secretId));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** @throws Error when the key is another one or the sealed bytes were changed */
export function openSecret(key: Buffer, secretId: string, sealed: Buffer): string {
  const nonce = sealed.subarray(0, sealNonceBytes);
  const tag = sealed.subarray(sealNonceBytes, sealNonceBytes + tagBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(secretId))
    .setAuthTag(tag);
  const text = decipher.update(sealed.subarray(sealNonceBytes + tagBytes));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
