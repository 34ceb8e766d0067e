import { randomUUID } from 'node:crypto';
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
