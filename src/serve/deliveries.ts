import type { Catalog } from '../catalog/catalog.ts';
import { artifactIdParameter } from '../domain/api/head.ts';
import { ApiError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Delivery, Rejection } from '../domain/nouns.ts';
import { type AdmissionParts, admit } from '../http/admission.ts';
import type { Route } from '../http/routes.ts';
import type { SampleStore } from '../samples/samples.ts';

export interface DeliveriesParts {
  readonly admission: AdmissionParts;
  readonly catalog: Pick<Catalog, 'deliveries'>;
  readonly samples: Pick<SampleStore, 'rejections'>;
}

/** GET /v1/deliveries/{artifact_id} (DECISIONS 4): what became of a delivery. */
export function deliveryRoute(parts: DeliveriesParts): Route {
  return {
    method: 'GET',
    pattern: '/v1/deliveries/:artifact_id',
    async handle(exchange, [artifactId = '']) {
      // Any live key of the source may ask (DECISIONS 4).
      const { holder } = await admit(parts.admission, exchange, () => {});
      const delivery = artifactIdParameter.safeParse(artifactId).success
        ? await parts.catalog.deliveries.byArtifact(artifactId.toLowerCase())
        : null;
      if (!delivery || delivery.sourceId !== holder.source.sourceId) {
        throw new ApiError(404, 'not_found', 'The source has no such delivery.');
      }
      const view = await deliveryView(delivery, parts.samples, limits.rejectionsShownMax);
      const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' };
      exchange.reply({ status: 200, headers, body: JSON.stringify(view) });
    },
  };
}

/** A delivery as the API and the command line show it. */
export interface DeliveryView {
  readonly artifact_id: string;
  readonly source_id: string;
  readonly status: string;
  readonly sandbox: boolean;
  readonly shape_version: number;
  /** RFC 3339, UTC. */
  readonly received_at: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly counts: {
    readonly records: number;
    readonly parsed: number;
    readonly rejected: number;
    readonly samples: number;
    readonly blank: number;
    readonly superseded_within: number;
  };
  readonly rejections: readonly Rejection[];
  readonly undeclared_fields: readonly string[];
}

/** @param rejectionsMax how many rejections to show; those of the delivery as a whole come first */
export async function deliveryView(
  delivery: Delivery,
  samples: Pick<SampleStore, 'rejections'>,
  rejectionsMax: number,
): Promise<DeliveryView> {
  const { counts } = delivery;
  const ofRecords = counts?.rejected
    ? await samples.rejections({
        artifactId: delivery.artifactId,
        generation: delivery.generation,
        limit: rejectionsMax,
      })
    : [];
  return {
    artifact_id: delivery.artifactId,
    source_id: delivery.sourceId,
    status: delivery.status,
    sandbox: delivery.sandbox,
    shape_version: delivery.shapeVersion,
    received_at: new Date(delivery.receivedAt).toISOString(),
    bytes: delivery.bytes,
    sha256: delivery.sha256,
    counts: {
      records: counts?.records ?? 0,
      parsed: counts?.parsed ?? 0,
      rejected: counts?.rejected ?? 0,
      samples: counts?.samples ?? 0,
      blank: counts?.blank ?? 0,
      superseded_within: counts?.supersededWithin ?? 0,
    },
    rejections: [...(delivery.refusal ? [delivery.refusal] : []), ...ofRecords].slice(
      0,
      rejectionsMax,
    ),
    undeclared_fields: delivery.undeclaredFields,
  };
}
