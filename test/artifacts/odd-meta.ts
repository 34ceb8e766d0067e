import fc from 'fast-check';
import type { ArtifactMeta } from '../../src/artifacts/artifacts.ts';

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
