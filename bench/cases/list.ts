import type { BenchCase } from '../case.ts';
import { documentMinio } from './document-minio.ts';
import { documentPeer } from './document-peer.ts';
import { memory } from './memory.ts';
import { mixed } from './mixed.ts';
import { parseCsv } from './parse-csv.ts';
import { parseStage } from './parse-stage.ts';
import { pushEmbedded } from './push-embedded.ts';
import { pushMinio } from './push-minio.ts';
import { pushPeer } from './push-peer.ts';
import { readGrowth } from './read-growth.ts';
import { readNaive } from './read-naive.ts';
import { readParts } from './read-parts.ts';
import { readRepeat } from './read-repeat.ts';
import { readWindow } from './read-window.ts';

/** All rows of the bench, in the order in which they are measured and printed. */
export const cases: readonly BenchCase[] = [
  ...[documentMinio, documentPeer],
  ...[pushMinio, pushPeer],
  pushEmbedded,
  ...[readWindow, readNaive, readGrowth, readParts, readRepeat],
  ...[parseStage, parseCsv, mixed, memory],
];
