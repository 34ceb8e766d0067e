import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { formatKey, keyRandomBytes } from '../domain/keys.ts';

/** A fresh access key: its text, to be shown this once, and what the catalog keeps of it. */
export function newKey(of: { readonly sandbox: boolean; readonly demo?: boolean }): {
  text: string;
  keyId: string;
  hash: Buffer;
} {
  const kind = of.demo ? 'demo' : of.sandbox ? 'test' : 'live';
  const text = formatKey(kind, randomBytes(keyRandomBytes));
  return { text, keyId: uuid(), hash: createHash('sha256').update(text).digest() };
}
