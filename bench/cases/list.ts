import type { BenchCase } from '../case.ts';
import { documentMinio } from './document-minio.ts';
import { pushMinio } from './push-minio.ts';

/** All rows of the bench, in the order in which they are measured and printed. */
export const cases: readonly BenchCase[] = [documentMinio, pushMinio];
