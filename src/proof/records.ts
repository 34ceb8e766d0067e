import { StoreAway } from '../artifacts/artifacts.ts';
import { type Catalog, CatalogRefusal } from '../catalog/catalog.ts';
import type { DeliveryBasis } from '../catalog/deliveries-contract.ts';
import type { LocateAnswer, LocatedRecord, LocateTask } from '../parse/messages.ts';
import { inputOf } from '../parse/tasks.ts';
import { damageText } from './difference.ts';

export interface RecordParts {
  readonly catalog: { readonly deliveries: Pick<Catalog['deliveries'], 'byArtifact' | 'bases'> };
  /** Reads records of a stored body again, by the code that parsed it. */
  locate(task: LocateTask): Promise<LocateAnswer>;
}

/**
 * A delivery with all that decides what its bytes give.
 *
 * @throws Error when the catalog does not know it
 */
export async function basisOf(
  { deliveries }: RecordParts['catalog'],
  artifactId: string,
): Promise<DeliveryBasis> {
  const delivery = await deliveries.byArtifact(artifactId);
  if (!delivery) throw new Error(`the catalog does not know the delivery ${artifactId}`);
  const [basis] = await deliveries.bases({ after: delivery.sequence - 1, limit: 1 });
  return basis!;
}

/**
 * Reads records of a delivery again, as the generation that stands read them; personal and
 * undeclared fields are masked.
 *
 * @param records numbers from 1, as they stand with each sample and rejection
 * @returns one for each; null: the body has no such record
 * @throws CatalogRefusal `parse_pending`, `artifact_damaged`; StoreAway
 */
export async function readRecords(
  { locate }: Pick<RecordParts, 'locate'>,
  { delivery, company, personalNow, standing, underWay }: DeliveryBasis,
  records: readonly number[],
  shownMax?: LocateTask['shownMax'],
): Promise<readonly (LocatedRecord | null)[]> {
  const { artifactId } = delivery;
  const parse = standing ?? underWay;
  if (parse === null) {
    const message = `${artifactId} waits to be parsed: ask once more.`;
    throw new CatalogRefusal('parse_pending', message);
  }
  const input = inputOf({ delivery, company, personalNow, ...parse });
  const answer = await locate({ input, records, ...(shownMax && { shownMax }) });
  if (answer.kind === 'read') return answer.records;
  if (answer.kind === 'unreadable') throw new StoreAway(answer.reason);
  const message = `${artifactId}: ${damageText[answer.kind]}`;
  throw new CatalogRefusal('artifact_damaged', message);
}
