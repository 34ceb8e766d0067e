import { ArtifactMissing, StoreAway } from '../artifacts.ts';
import type { Response } from './response.ts';

const missing = new Set(['NoSuchKey', 'NotFound', 'InvalidRange']);

/** Whether the store said that the object, or the range of it, is not there. */
export function saysMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && missing.has(String(error.code));
}

/** Whatever went wrong between us and the store, as `StoreAway`, with its cause. */
export function storeError(error: unknown, doing: string): Error {
  if (error instanceof StoreAway || error instanceof ArtifactMissing) return error;
  return new StoreAway(`the S3 store failed while ${doing}: ${reason(error)}`, { cause: error });
}

/** As `storeError`, but an absent object or range is an artifact that is missing. */
export function readError(error: unknown, object: string): Error {
  if (!saysMissing(error)) return storeError(error, `reading ${object}`);
  return new ArtifactMissing(`${object} is not in the bucket: ${reason(error)}`, { cause: error });
}

/** An answer that is not the one hoped for. */
export function refused({ status, body }: Response): StoreAway {
  const text = body.toString('utf8');
  const code = /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1] ?? 'no code';
  const message = /<Message>([^<]{1,300})<\/Message>/.exec(text)?.[1] ?? 'no message';
  return new StoreAway(`the S3 store answered ${status} (${code}: ${message})`);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? `${error.code} ` : '';
  return `${code}${error.message}`.trim();
}
