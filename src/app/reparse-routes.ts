import { type Catalog, CatalogRefusal } from '../catalog/catalog.ts';
import type { PageWant } from '../catalog/delivery-pages-contract.ts';
import { reparse, reparseRejected, tryReparse } from '../domain/api/app/deliveries.ts';
import { AppError } from '../domain/app-errors.ts';
import type { Delivery, ShapeVersion, Source } from '../domain/nouns.ts';
import { personalNames, versionAgain } from '../domain/personal.ts';
import type { Route } from '../http/routes.ts';
import { rejectionView } from './delivery-views.ts';
import { ownDelivery, ownSource } from './owned.ts';
import type { AppParts } from './parts.ts';
import { serveEndpoint } from './serve-endpoint.ts';

/** Deliveries that are begun in one transaction. */
const beginPage = 500;

/** Parsing again: what it would change, one delivery, all rejected ones. */
export function reparseRoutes(parts: AppParts): Route[] {
  const { catalog } = parts;
  return [
    serveEndpoint(parts, tryReparse, async ({ by, params, body }) => {
      const { delivery, source } = await ownDelivery(catalog, by, params.artifact_id!);
      const shape = await shapeFor(catalog, delivery, source, body.shape_version);
      const current = await shapeOf(catalog, source, source.shapeVersion);
      const tried = await parts.tryDelivery(delivery, shape, personalNames(current.fields));
      if (tried.outcome !== 'tried') {
        throw new AppError('conflict', notTried[tried.outcome], { reason: tried.outcome });
      }
      const { outcome: _, newlyRejected, refusal, rejections, ...counted } = tried;
      return {
        ...{ shape_version: shape.version, ...counted, newly_rejected: newlyRejected },
        refusal: refusal && rejectionView(refusal),
        rejections: rejections.map(rejectionView),
      };
    }),
    serveEndpoint(parts, reparse, async ({ by, params, body, now }) => {
      const { delivery, source } = await ownDelivery(catalog, by, params.artifact_id!);
      const { version } = await shapeFor(catalog, delivery, source, body.shape_version);
      const want = { artifactIds: [delivery.artifactId], shapeVersion: version };
      const [begun] = await catalog.reparses.begin(want, now);
      if (!begun) {
        const message = 'The delivery waits to be parsed, or is being parsed. Try again then.';
        throw new AppError('conflict', message, { reason: 'being_parsed' });
      }
      parts.wakeParsing();
      return { generation: begun.generation, shape_version: version };
    }),
    serveEndpoint(parts, reparseRejected, async ({ by, params, body, now }) => {
      const source = await ownSource(catalog, by, params.source_id!);
      const { shape_version: asked = source.shapeVersion } = body;
      const { version } = await shapeOf(catalog, source, asked);
      const deliveries = await beginRejected(catalog, source.sourceId, version, now);
      parts.wakeParsing();
      return { deliveries, shape_version: version };
    }),
  ];
}

/** As `weir reparse` chooses it: the delivery's own, unless what is personal now forbids it. */
export async function reparseVersionOf(
  catalog: Pick<Catalog, 'lookup'>,
  { shapeVersion }: Delivery,
  source: Source,
): Promise<number> {
  const own = await shapeOf(catalog, source, shapeVersion);
  return versionAgain(own, await shapeOf(catalog, source, source.shapeVersion));
}

async function shapeFor(
  catalog: Pick<Catalog, 'lookup'>,
  delivery: Delivery,
  source: Source,
  asked: number | undefined,
): Promise<ShapeVersion> {
  const version = asked ?? (await reparseVersionOf(catalog, delivery, source));
  return await shapeOf(catalog, source, version);
}

/** @throws CatalogRefusal `shape_version_not_found` */
async function shapeOf(
  { lookup }: Pick<Catalog, 'lookup'>,
  { sourceId }: Source,
  version: number,
): Promise<ShapeVersion> {
  const shape = await lookup.shape(sourceId, version);
  if (shape) return shape;
  throw new CatalogRefusal('shape_version_not_found', 'There is no such shape version.');
}

const notTried = {
  too_large: 'It gives too many samples to be compared here.',
  unreadable: 'Its stored bytes cannot be read now.',
  damaged: 'Its stored bytes are damaged.',
  crashed: 'The parser failed on it.',
} as const;

/**
 * Page by page, so that no transaction is long. What is received or rejected meanwhile may be left
 * out, and nothing is begun twice: pages only go back in time.
 */
async function beginRejected(
  { deliveryPages, reparses }: Pick<Catalog, 'deliveryPages' | 'reparses'>,
  sourceId: string,
  shapeVersion: number,
  now: number,
): Promise<number> {
  let begun = 0;
  let after: PageWant['after'];
  for (;;) {
    const want = { limit: beginPage, ...(after && { after }) };
    const page = await deliveryPages.page(sourceId, { status: 'rejected' }, want);
    const last = page.at(-1);
    if (!last) return begun;
    const artifactIds = page.map(({ delivery }) => delivery.artifactId);
    begun += (await reparses.begin({ artifactIds, shapeVersion }, now)).length;
    after = last.delivery;
  }
}
