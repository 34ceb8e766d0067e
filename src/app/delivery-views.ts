import type { DeliveryDetails, ListedDelivery } from '../catalog/delivery-pages-contract.ts';
import type { Delivery, Rejection } from '../domain/nouns.ts';
import { instant } from '../std/instant.ts';

/** Deliveries as the app API shows them (`domain/api/app/deliveries.ts`). */

export function listedView({ delivery, firstKey, conflicts, damage }: ListedDelivery) {
  return {
    ...shared(delivery),
    refusal: delivery.refusal?.code ?? null,
    idempotency_key: firstKey,
    ...{ conflicts, damage },
  };
}

export function deliveryView(delivery: Delivery, details: DeliveryDetails, reparseVersion: number) {
  const { keys, conflicts, waitsFor } = details;
  return {
    ...shared(delivery),
    source_id: delivery.sourceId,
    receipt_shape_version: delivery.receiptShapeVersion,
    sequence: delivery.sequence,
    sha256: delivery.sha256,
    delivery: delivery.delivery,
    media_type: delivery.mediaType,
    encoding: delivery.encoding,
    generation: delivery.generation,
    parser_version: details.parserVersion,
    settled_at: instant(details.settledAt),
    waits_for: waitsFor && {
      ...{ generation: waitsFor.generation, shape_version: waitsFor.shapeVersion },
    },
    refusal: delivery.refusal && rejectionView(delivery.refusal),
    undeclared_fields: [...delivery.undeclaredFields],
    secret_id: delivery.secretId,
    checked_at: instant(details.checkedAt),
    damage: details.damage,
    idempotency_key: keys.first[0]!.key,
    keys: {
      count: keys.count,
      first: keys.first.map(({ key, namedAt }) => ({ key, named_at: instant(namedAt) })),
    },
    conflicts: {
      count: conflicts.count,
      newest: conflicts.newest.map((one) => ({ ...one, at: instant(one.at) })),
    },
    reparse_version: reparseVersion,
  };
}

function shared(delivery: Delivery) {
  const { counts } = delivery;
  return {
    artifact_id: delivery.artifactId,
    status: delivery.status,
    received_at: instant(delivery.receivedAt),
    bytes: delivery.bytes,
    sandbox: delivery.sandbox,
    shape_version: delivery.shapeVersion,
    counts: counts && {
      records: counts.records,
      parsed: counts.parsed,
      rejected: counts.rejected,
      samples: counts.samples,
      blank: counts.blank,
      superseded_within: counts.supersededWithin,
    },
  };
}

export function rejectionView({ record, line, field, code, message }: Rejection) {
  return { record, line, field, code, message };
}
