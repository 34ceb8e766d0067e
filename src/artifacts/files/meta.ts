import { type ArtifactMeta, ArtifactMissing } from '../artifacts.ts';
import { checkedMeta } from '../checked-meta.ts';

/** Where an object's metadata lies, beside its body. */
export function sidecarOf(path: string): string {
  return `${path}.json`;
}

/** The sidecar's text: one JSON object and a line end. */
export function encodeMeta(meta: ArtifactMeta): string {
  return `${JSON.stringify(meta)}\n`;
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

function parsed(object: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ArtifactMissing(`the metadata of ${object} is damaged`, { cause });
  }
}
