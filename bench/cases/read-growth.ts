import type { BenchCase } from '../case.ts';
import { freshReads, readPlace, requireRead } from './reads.ts';

/** A window read with ten times the history behind it. */
export const readGrowth: BenchCase = {
  name: 'read-growth',
  title: 'p50 of a read with 7,310 days of history, merged, against 731 days',
  unit: 'ms',
  group: 'reads',
  variants: () => [
    {
      name: 'p50',
      goal: { value: 1.2, bound: 'at most', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const place = await readPlace(world);
        return {
          async check() {
            await requireRead(place.weir, place.long);
            await requireRead(place.weir, place.short);
          },
          ours: () => freshReads(world, place, place.long),
          theirs: () => freshReads(world, place, place.short),
          async close() {},
        };
      },
    },
  ],
};
