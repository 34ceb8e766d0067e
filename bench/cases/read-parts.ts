import type { BenchCase } from '../case.ts';
import { freshReads, readPlace, requireRead } from './reads.ts';

/** A window read before ClickHouse has merged what came. */
export const readParts: BenchCase = {
  name: 'read-parts',
  title: 'p50 of a read from twelve parts, each over all days, against one part',
  unit: 'ms',
  group: 'reads',
  variants: () => [
    {
      name: 'p50',
      goal: { value: 2, bound: 'at most', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const place = await readPlace(world);
        return {
          async check() {
            await requireRead(place.weir, place.twelveParts);
            await requireRead(place.weir, place.onePart);
          },
          ours: () => freshReads(world, place, place.twelveParts),
          theirs: () => freshReads(world, place, place.onePart),
          async close() {},
        };
      },
    },
  ],
};
