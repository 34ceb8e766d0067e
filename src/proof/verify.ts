import { crashPoint } from '../std/crash-point.ts';
import { takeAllSources } from './all-sources.ts';
import type { Built } from './builder.ts';
import { compareSamples } from './compare.ts';
import type { Difference } from './difference.ts';
import { patiently } from './patience.ts';
import { buildInto, type ProofParts, withFresh } from './rebuild.ts';

export interface Verified {
  readonly built: Built;
  /** What reads show by the artifacts, of all sources. */
  readonly totals: { readonly samples: number; readonly rejections: number };
  readonly differences: readonly Difference[];
}

/**
 * Makes all samples anew from artifacts and catalog, beside the ones in use, and names everything
 * that differs: artifacts by their hashes, counts of the catalog, samples with their past,
 * rejections. Nothing in use changes.
 *
 * @throws Error when a store stays away, or another rebuild or verify is running
 */
export async function verify(parts: ProofParts): Promise<Verified> {
  const { catalog, proof } = parts;
  const turn = await takeAllSources(catalog.reparses, parts.clock);
  try {
    return await withFresh(parts, async () => {
      const built = await buildInto(parts, proof.fresh.insert, { everyArtifact: true });
      crashPoint('fresh_filled');
      const totals = await patiently(() => proof.fresh.totals());
      const broken = new Set(built.broken.map((one) => one.artifactId!));
      const inSamples = await compareSamples(parts, broken);
      await turn.mustHold();
      return { built, totals, differences: [...built.broken, ...built.differences, ...inSamples] };
    });
  } finally {
    await turn.end();
  }
}
