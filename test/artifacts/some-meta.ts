import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { ArtifactMeta } from '../../src/artifacts/artifacts.ts';

/** Metadata of a delivery like many, with the fields that a test cares about. */
export function someMeta(fields: Partial<ArtifactMeta> = {}): ArtifactMeta {
  return {
    artifactId: randomUUID(),
    sourceId: randomUUID(),
    sandbox: false,
    idempotencyKey: 'march-2026',
    shapeVersion: 1,
    delivery: 'document',
    mediaType: 'application/octet-stream',
    encoding: 'identity',
    receivedAt: Date.now(),
    ...fields,
  };
}

/** Any metadata that may occur, with keys of any Unicode. */
export const oddMeta: fc.Arbitrary<ArtifactMeta> = fc.record({
  artifactId: fc.uuid(),
  sourceId: fc.uuid(),
  sandbox: fc.boolean(),
  idempotencyKey: fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
  shapeVersion: fc.integer({ min: 1, max: 2 ** 31 }),
  delivery: fc.constantFrom('push', 'document', 'webhook'),
  mediaType: fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
  encoding: fc.constantFrom('identity', 'gzip', 'zstd'),
  receivedAt: fc.nat({ max: 2 ** 45 }),
});
