import { type ArtifactMeta, ArtifactMissing } from '../artifacts.ts';
import { checkedMeta } from '../checked-meta.ts';

/** Where an object's metadata lies, beside its body. */
export function sidecarOf(path: string): string {
  return `${path}.json`;
}

/** The sidecar's text: one JSON object and a line end. The hash is that of the body. */
export function encodeSidecar(meta: ArtifactMeta, sha256: Buffer): string {
  return `${JSON.stringify({ ...meta, sha256: sha256.toString('hex') })}\n`;
}

/**
 * What a sidecar says of its body; the hash is null in one that has none.
 *
 * @throws ArtifactMissing when it is damaged: it was durable before the body became visible.
 */
export function decodeSidecar(
  object: string,
  text: string,
): { readonly meta: ArtifactMeta; readonly sha256: Buffer | null } {
  const value = parsed(object, text);
  const meta = checkedMeta(value);
  if (!meta) throw new ArtifactMissing(`the metadata of ${object} is incomplete`);
  const { sha256 } = Object(value) as { sha256?: unknown };
  if (typeof sha256 !== 'string') return { meta, sha256: null };
  if (/^[0-9a-f]{64}$/.test(sha256)) return { meta, sha256: Buffer.from(sha256, 'hex') };
  throw new ArtifactMissing(`the hash of ${object} is damaged`);
}

function parsed(object: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ArtifactMissing(`the metadata of ${object} is damaged`, { cause });
  }
}
