import { fileURLToPath } from 'node:url';
import type { ArtifactStore } from './artifacts.ts';
import { FileStore } from './files/store.ts';
import { parseS3Address } from './s3/address.ts';
import { S3Store } from './s3/store.ts';

/**
 * The artifact store that a URL names (DECISIONS 9): `file:///abs/path`,
 * `s3+http://KEY:SECRET@host:port/bucket` or `s3+https://…`, these with `?region=` if needed.
 * Touches nothing yet: call `prepare`.
 *
 * @throws Error one clear line, without the secret, when the URL is none of these
 */
export function openArtifacts(url: string): ArtifactStore {
  if (/^s3\+https?:/.test(url)) return new S3Store(parseS3Address(url));
  if (url.startsWith('file:')) return new FileStore(directoryIn(url));
  throw new Error("the artifact store's URL must begin with file:, s3+http: or s3+https:");
}

function directoryIn(text: string): string {
  const form = "the artifact store's URL must look like file:///absolute/path";
  if (!text.startsWith('file:///')) throw new Error(form);
  const url = new URL(text);
  if (url.search || url.hash || url.pathname === '/') throw new Error(form);
  return fileURLToPath(url);
}
