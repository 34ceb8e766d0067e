import type { Job } from '../catalog/catalog.ts';
import type { DeliveryBasis, ParseBasis } from '../catalog/deliveries-contract.ts';
import { exposedField } from '../domain/personal.ts';
import type { StandingGeneration } from '../samples/proof.ts';

/** One parse of a delivery: of what stands, or of what a parse loop is at. */
export interface BuildJob extends Omit<Job, 'token' | 'failures' | 'refusal'> {
  readonly basis: DeliveryBasis;
  readonly stands: boolean;
  readonly tries: number;
}

/** Refusals that no parse gives: reading the body again would give rows. */
const decidedElsewhere = new Set(['personal_field', 'parser_crashed']);

/**
 * What is to be done for some deliveries.
 *
 * What stands is made again. So is what a parse loop is at, on the basis that its claim fixed: its
 * rows may have been inserted before there were fresh tables, and it may end before the swap. What
 * only waits is left to the service, which inserts into both sets.
 */
export function planOf(bases: readonly DeliveryBasis[], everyArtifact: boolean) {
  const jobs: BuildJob[] = [];
  const toCheck: DeliveryBasis[] = [];
  const generations: StandingGeneration[] = [];
  for (const basis of bases) {
    const { standing, underWay, delivery } = basis;
    const { artifactId, sourceId, sequence } = delivery;
    const found: BuildJob[] = [];
    if (standing !== null && standing.generation > 0) {
      generations.push({ artifactId, sourceId, sequence, generation: standing.generation });
    }
    if (standing !== null && isParsed(basis, standing)) found.push(jobOf(basis, standing, true));
    if (underWay !== null) found.push(jobOf(basis, underWay, false));
    if (found.length === 0 && everyArtifact) toCheck.push(basis);
    jobs.push(...found);
  }
  return { jobs, toCheck, generations };
}

/** Not when a withdrawal waits to take effect: such samples are not made again. */
function isParsed({ delivery, personalNow }: DeliveryBasis, standing: ParseBasis): boolean {
  if (delivery.refusal !== null && decidedElsewhere.has(delivery.refusal.code)) return false;
  return exposedField(standing.shape.fields, personalNow) === null;
}

function jobOf(basis: DeliveryBasis, parse: ParseBasis, stands: boolean): BuildJob {
  const { delivery, company, personalNow } = basis;
  const { artifactId } = delivery;
  return { artifactId, delivery, company, personalNow, ...parse, basis, stands, tries: 1 };
}
