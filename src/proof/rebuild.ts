import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ParsePool } from '../parse/pool.ts';
import type { SampleProof } from '../samples/proof.ts';
import type { EncodedRows, SampleStore } from '../samples/samples.ts';
import type { Clock } from '../std/clock.ts';
import { crashPoint } from '../std/crash-point.ts';
import { takeAllSources } from './all-sources.ts';
import { type BuildParts, type BuildWants, type Built, build, type RowSink } from './builder.ts';
import type { Difference } from './difference.ts';
import { patiently } from './patience.ts';

export interface ProofParts {
  readonly catalog: Pick<Catalog, 'deliveries' | 'reparses' | 'upkeep'>;
  readonly artifacts: Pick<ArtifactStore, 'read'>;
  readonly pool: ParsePool;
  readonly samples: Pick<SampleStore, 'insert'>;
  readonly proof: SampleProof;
  /** Gathers what is handed over into inserts. */
  batch(insert: (rows: EncodedRows) => Promise<void>): RowSink;
  readonly clock: Clock;
  onProgress(progress: ProofProgress): void;
}

/** `bytes` are those of deliveries; comparing is counted in questions. */
export type ProofProgress =
  | {
      readonly kind: 'building';
      readonly deliveries: { readonly done: number; readonly all: number };
      readonly bytes: { readonly done: number; readonly all: number };
    }
  | { readonly kind: 'comparing'; readonly done: number; readonly all: number };

export interface Rebuilt {
  readonly swapped: boolean;
  readonly built: Built;
  /** What reads show now, of all sources; null when nothing was swapped. */
  readonly totals: { readonly samples: number; readonly rejections: number } | null;
  readonly differences: readonly Difference[];
}

/**
 * Makes all samples anew from artifacts and catalog, and puts them in the place of the ones in use
 * while accepting, parsing and reading go on. With a damaged or missing artifact nothing changes.
 *
 * Ordering: the turn of all sources → fresh tables, which every insert fills from then on → all
 * deliveries → what is not complete is noted → swap → what was noted, or came later, once more
 * into the tables in use, for its insert may have been under way → the old tables are dropped.
 * What was complete before is in the fresh tables, by the build; what was not is inserted again.
 *
 * @throws Error when a store stays away, or another rebuild or verify is running
 */
export async function rebuild(parts: ProofParts): Promise<Rebuilt> {
  const { catalog, proof, samples } = parts;
  const turn = await takeAllSources(catalog.reparses, parts.clock);
  try {
    return await withFresh(parts, async () => {
      const built = await buildInto(parts, proof.fresh.insert, { everyArtifact: false });
      crashPoint('fresh_filled');
      const differences = [...built.broken, ...built.differences];
      if (built.broken.length > 0) return { swapped: false, built, totals: null, differences };
      const totals = await patiently(() => proof.fresh.totals());
      const last = (await catalog.upkeep.standing()).sequence;
      const waiting = new Set(await catalog.deliveries.waiting());
      await turn.mustHold();
      await proof.fresh.swap();
      crashPoint('swapped');
      await turn.mustHold();
      const delivery = (sequence: number) => sequence > last || waiting.has(sequence);
      await buildInto(parts, samples.insert.bind(samples), { delivery, everyArtifact: false });
      crashPoint('caught_up');
      return { swapped: true, built, totals, differences };
    });
  } finally {
    await turn.end();
  }
}

/** The fresh set is taken away again, whatever happens; what this cannot do the next run does. */
export async function withFresh<T>({ proof }: ProofParts, work: () => Promise<T>): Promise<T> {
  await patiently(() => proof.fresh.begin());
  crashPoint('fresh_made');
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await proof.fresh.drop().catch((cause: unknown) => {
      throw new AggregateError([error, cause], `${(error as Error).message} (and no cleaning up)`);
    });
    throw error;
  }
  await patiently(() => proof.fresh.drop());
  return result;
}

/** Builds with progress shown; what is inserted is durable when this resolves. */
export async function buildInto(
  parts: ProofParts,
  insert: (rows: EncodedRows) => Promise<void>,
  wants: BuildWants,
): Promise<Built> {
  const { deliveries } = parts.catalog;
  const all = await deliveries.extent();
  const rows = parts.batch((some) => patiently(() => insert(some)));
  const { artifacts, pool, proof } = parts;
  const buildParts: BuildParts = {
    ...{ deliveries, artifacts, pool, rows },
    // Once swapped, those of the set in use are right already: nothing settles meanwhile.
    noteGenerations: async (standing) => {
      if (wants.delivery === undefined) await proof.fresh.noteGenerations(standing);
    },
    onProgress(done) {
      if (wants.delivery !== undefined) return;
      parts.onProgress({
        kind: 'building',
        deliveries: { done: done.deliveries, all: all.deliveries },
        bytes: { done: done.bytes, all: all.bytes },
      });
    },
  };
  try {
    return await build(buildParts, wants);
  } finally {
    await rows.close();
  }
}
