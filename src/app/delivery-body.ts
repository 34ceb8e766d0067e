import { createHash } from 'node:crypto';
import { ArtifactMissing, type ArtifactStore } from '../artifacts/artifacts.ts';
import { AppError } from '../domain/app-errors.ts';
import type { Delivery } from '../domain/nouns.ts';
import type { Reply } from '../http/exchange.ts';

/** Bodies that are held at once; each is 8 MiB at most. */
const atOnceMax = 4;

/**
 * Gives stored bodies, whole and as they were received. A body is held until its hash has been
 * compared with the receipt's, for nothing may go out that is not what was accepted.
 */
export function bodyGiver(artifacts: Pick<ArtifactStore, 'read'>) {
  let held = 0;
  /** @throws AppError `conflict`: `artifact_damaged`, or too many at once (`busy`); StoreAway */
  return async (delivery: Delivery): Promise<Reply> => {
    if (held >= atOnceMax) {
      const message = 'Several downloads are under way. Try again in a moment.';
      throw new AppError('conflict', message, { reason: 'busy' });
    }
    held += 1;
    try {
      const body = await bodyOf(artifacts, delivery);
      return { status: 200, headers: headersFor(delivery), body };
    } finally {
      held -= 1;
    }
  };
}

async function bodyOf(
  artifacts: Pick<ArtifactStore, 'read'>,
  { place, sha256 }: Delivery,
): Promise<Buffer> {
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  try {
    for await (const piece of await artifacts.read(place)) {
      hash.update(piece as Buffer);
      pieces.push(piece as Buffer);
    }
  } catch (error) {
    if (!(error instanceof ArtifactMissing)) throw error;
    throw damaged('The stored bytes are missing, or not all there.');
  }
  if (hash.digest('hex') === sha256) return Buffer.concat(pieces);
  throw damaged('The stored bytes are not those that were accepted.');
}

function damaged(message: string): AppError {
  return new AppError('conflict', message, { reason: 'artifact_damaged' });
}

/** Never shown by a browser, whatever it holds: only saved, under a name of ours. */
function headersFor({ artifactId, encoding }: Delivery): Record<string, string> {
  const packed = { identity: '', gzip: '.gz', zstd: '.zst' }[encoding];
  return {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${artifactId}${packed}"`,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
  };
}
