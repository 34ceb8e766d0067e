import { randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import type { NewSecret } from '../catalog/catalog.ts';
import { formatSecret, sealNonceBytes, sealSecret, secretRandomBytes } from '../domain/secrets.ts';
import { type SecretKeySettings, secretKey } from './secret-key.ts';

/** A fresh signing secret: its text, to be shown this once, and what the catalog keeps of it. */
export function newSecret(settings: SecretKeySettings): { text: string; secret: NewSecret } {
  const text = formatSecret(randomBytes(secretRandomBytes));
  const secretId = uuid();
  const nonce = randomBytes(sealNonceBytes);
  const sealed = sealSecret(secretKey(settings), nonce, secretId, text);
  return { text, secret: { secretId, sealed } };
}
