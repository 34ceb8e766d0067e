import type { BenchCase, Goal, Variant } from '../case.ts';
import { minioTaker } from '../takers/minio.ts';
import { weirOnMinio, weirTaker } from '../takers/weir.ts';
import { documentContest } from './deliveries.ts';

/** Documents through weir into MinIO, against the same loader PUTting straight to MinIO. */
export const documentMinio: BenchCase = {
  name: 'document-minio',
  title: 'documents of 8 MiB through weir into MinIO, against PUTs straight to MinIO',
  unit: 'MB/s',
  group: 'documents',
  variants: (size) => [
    variant('4 at once', 4),
    variant('16 at once', 16),
    ...(size === 'quick' ? [] : [againstHashed]),
    ...(size === 'full' ? [besideParsing] : []),
  ],
};

const goal: Goal = { value: 0.85, bound: 'at least', of: 'ratio' };

function variant(name: string, connections: number): Variant {
  return {
    ...{ name, goal, judged: true },
    async prepare(world) {
      const ours = await weirTaker(await weirOnMinio(world, 'held'), 'document');
      return documentContest(world, { ours, theirs: await minioTaker(world) }, { connections });
    },
  };
}

/** What is left of the rate while the same cores parse what was accepted. */
const besideParsing: Variant = {
  ...{ name: '4 at once, parsing beside', goal, judged: false },
  async prepare(world) {
    const ours = await weirTaker(await weirOnMinio(world, 'beside'), 'document');
    return documentContest(world, { ours, theirs: await minioTaker(world) }, { connections: 4 });
  },
};

/** What is lost to the checksum, which weir has MinIO check, and what to weir itself. */
const againstHashed: Variant = {
  ...{ name: '4 at once, PUTs with SHA-256', goal, judged: false },
  async prepare(world) {
    const ours = await weirTaker(await weirOnMinio(world, 'held'), 'document');
    const theirs = await minioTaker(world, true);
    return documentContest(world, { ours, theirs }, { connections: 4 });
  },
};
