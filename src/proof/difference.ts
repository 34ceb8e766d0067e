import type { DeliveryBasis } from '../catalog/deliveries-contract.ts';
import type { Damage } from '../catalog/upkeep-contract.ts';
import type { Counts, Rejection } from '../domain/nouns.ts';
import { type ParsedDelivery, parserVersion } from '../parse/messages.ts';

/** Something that is not as artifacts and catalog say it must be. */
export interface Difference {
  /** Null: it is about none, or about more than one. */
  readonly artifactId: string | null;
  /** Null: rejections of a delivery that the catalog does not know. */
  readonly sourceId: string | null;
  /** One plain sentence. */
  readonly what: string;
}

export function differenceOf({ delivery }: DeliveryBasis, what: string): Difference {
  return { artifactId: delivery.artifactId, sourceId: delivery.sourceId, what };
}

/** What is wrong with an artifact that is not as it was accepted. */
export const damageText: Record<Damage, string> = {
  changed: 'its artifact is not what was accepted',
  missing: 'its artifact is missing, or not all there',
  unreadable: 'the store does not give its artifact',
};

const countNames: readonly (readonly [keyof Counts, string])[] = [
  ['records', 'records'],
  ['parsed', 'parsed records'],
  ['rejected', 'rejected records'],
  ['samples', 'samples'],
  ['blank', 'blank values'],
  ['supersededWithin', 'values superseded within it'],
];

/**
 * What the catalog says of a delivery and its artifact does not give.
 *
 * @returns one sentence; null when all is as it should be
 */
export function outcomeProblem(basis: DeliveryBasis, made: ParsedDelivery): string | null {
  const { delivery } = basis;
  const found: string[] = [];
  // While a next generation is waited for, the status is that of the waiting.
  const isSettled = delivery.status === 'parsed' || delivery.status === 'rejected';
  if (isSettled && delivery.status !== made.status) {
    found.push(`it is ${made.status}, the catalog says ${delivery.status}`);
  }
  for (const [count, name] of countNames) {
    const [stored, right] = [delivery.counts?.[count], made.counts[count]];
    if (stored !== right) found.push(`it has ${right} ${name}, the catalog says ${stored}`);
  }
  if (refusalText(delivery.refusal) !== refusalText(made.refusal)) {
    const [right, stored] = [refusalText(made.refusal), refusalText(delivery.refusal)];
    found.push(`its refusal is ${right}, the catalog says ${stored}`);
  }
  if (delivery.undeclaredFields.join('\n') !== made.undeclaredFields.join('\n')) {
    found.push('its undeclared fields are not those of the catalog');
  }
  if (found.length === 0) return null;
  const older = basis.parserVersion !== null && basis.parserVersion !== parserVersion;
  const why = older
    ? ` (parser ${basis.parserVersion} made it, this is ${parserVersion}: parse it again)`
    : '';
  return `${found.join('; ')}${why}`;
}

function refusalText(refusal: Rejection | null): string {
  if (refusal === null) return 'none';
  return refusal.field === null ? refusal.code : `${refusal.code} of ${refusal.field}`;
}
