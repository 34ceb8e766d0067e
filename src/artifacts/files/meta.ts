import { type ArtifactMeta, ArtifactMissing } from '../artifacts.ts';
import { checkedMeta } from '../checked-meta.ts';

/** Where an object's metadata lies, beside its body. */
export function sidecarOf(path: string): string {
  return `${path}.json`;
}

/** The sidecar's text: one JSON object and a line end. The hash is that of the body. */
export function encodeMeta(meta: ArtifactMeta, sha256: Buffer): string {
  return `${JSON.stringify({ ...meta, sha256: sha256.toString('hex') })}\n`;
}

/**
 * The metadata in a sidecar.
 *
 * @throws ArtifactMissing when it is damaged: it was durable before the body became visible.
 */
export function decodeMeta(object: string, text: string): ArtifactMeta {
  const meta = checkedMeta(parsed(object, text));
  if (!meta) throw new ArtifactMissing(`the metadata of ${object} is incomplete`);
  return meta;
}

/** The body's hash in a sidecar; null in one that has none. Throws as `decodeMeta` does. */
export function decodeHash(object: string, text: string): Buffer | null {
  const { sha256 } = Object(parsed(object, text)) as { sha256?: unknown };
  if (typeof sha256 !== 'string') return null;
  if (/^[0-9a-f]{64}$/.test(sha256)) return Buffer.from(sha256, 'hex');
  throw new ArtifactMissing(`the hash of ${object} is damaged`);
}

function parsed(object: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ArtifactMissing(`the metadata of ${object} is damaged`, { cause });
  }
}
