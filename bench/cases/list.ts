import type { BenchCase } from '../case.ts';
import { documentMinio } from './document-minio.ts';
import { documentPeer } from './document-peer.ts';
import { pushEmbedded } from './push-embedded.ts';
import { pushMinio } from './push-minio.ts';
import { pushPeer } from './push-peer.ts';

/** All rows of the bench, in the order in which they are measured and printed. */
export const cases: readonly BenchCase[] = [
  ...[documentMinio, documentPeer, pushMinio, pushPeer],
  pushEmbedded,
];
