import type { Transaction } from 'kysely';
import type { Field } from '../domain/nouns.ts';
import { exposedField, personalNames } from '../domain/personal.ts';
import { deliveryRefusal } from '../domain/rejections.ts';
import type { SavedSource } from './catalog.ts';
import { freshNumber, putNext } from './next-generation.ts';
import { selectShapes, shapeOf } from './rows.ts';
import type { Schema } from './schema.ts';

/**
 * Withdraws the deliveries whose shape version gives a role to a field that the version saved now
 * marks personal (DECISIONS 1): their next generation is the refusal. So are those that wait or
 * are being parsed; those accepted from now on are refused when they are parsed.
 */
export async function withdraw(
  trx: Transaction<Schema>,
  sourceId: number,
  fields: readonly Field[],
  now: number,
): Promise<SavedSource['withdrawn']> {
  const personalNow = personalNames(fields);
  if (personalNow.length === 0) return null;
  const byField = new Map<string, number[]>();
  const rows = await selectShapes(trx).where('v.source_id', '=', sourceId).execute();
  for (const shape of rows.map(shapeOf)) {
    const field = exposedField(shape.fields, personalNow);
    if (field === null) continue;
    byField.set(field, [...(byField.get(field) ?? []), shape.version]);
  }
  if (byField.size === 0) return null;
  const generation = await freshNumber(trx, now);
  let deliveries = 0;
  for (const [field, versions] of byField) {
    const refusal = deliveryRefusal({ code: 'personal_field', field });
    deliveries += await putNext(trx, { generation, refusal }, { exposed: { sourceId, versions } });
  }
  if (deliveries === 0) return null;
  await trx
    .updateTable('sources')
    .set({ forget_below: generation })
    .where('id', '=', sourceId)
    .execute();
  return { deliveries, generation };
}
