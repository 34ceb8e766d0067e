import type { BenchCase, Variant } from '../case.ts';
import { minioTaker } from '../takers/minio.ts';
import { type Parsing, weirOnMinio, weirTaker } from '../takers/weir.ts';
import { documentContest } from './deliveries.ts';

/** Documents through weir into MinIO, against the same loader PUTting straight to MinIO. */
export const documentMinio: BenchCase = {
  name: 'document-minio',
  title: 'documents of 8 MiB through weir into MinIO, against PUTs straight to MinIO',
  unit: 'MB/s',
  group: 'documents',
  variants: (size) => [
    { ...variant(4, 'held'), judged: true },
    { ...variant(16, 'held'), judged: true },
    ...(size !== 'full' ? [] : [{ ...variant(4, 'beside'), judged: false }]),
  ],
};

function variant(connections: number, parsing: Parsing): Omit<Variant, 'judged'> {
  return {
    name: `${connections} at once${parsing === 'held' ? '' : ', parsing beside'}`,
    goal: { value: 0.85, bound: 'at least', of: 'ratio' },
    async prepare(world) {
      const ours = await weirTaker(await weirOnMinio(world, parsing), 'document');
      return documentContest(world, { ours, theirs: await minioTaker(world) }, { connections });
    },
  };
}
