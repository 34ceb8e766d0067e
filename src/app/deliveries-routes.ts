import type { PageFilter } from '../catalog/delivery-pages-contract.ts';
import {
  downloadBody,
  listDeliveries,
  listRejections,
  namesFoundMax,
  readDelivery,
  readRecordTexts,
  rejectionsPageMax,
} from '../domain/api/app/deliveries.ts';
import type { QueryOf } from '../domain/api/app/endpoint.ts';
import { countedMax } from '../domain/counted.ts';
import type { Route } from '../http/routes.ts';
import { readRecords } from '../proof/records.ts';
import { bodyGiver } from './delivery-body.ts';
import { deliveryView, listedView, rejectionView } from './delivery-views.ts';
import { ownDelivery, ownSource } from './owned.ts';
import type { AppParts } from './parts.ts';
import { reparseRoutes, reparseVersionOf } from './reparse-routes.ts';
import { serveEndpoint } from './serve-endpoint.ts';

const pageSize = 50;
/** Names and conflicts of one delivery that are shown. */
const besideMax = 50;
/** Of a record's text: fields, and characters of each. */
const recordShownMax = { fields: 100, chars: 500 };

/** What came in: lists, single deliveries, their rejected records and stored bytes. */
export function deliveryRoutes(parts: AppParts): Route[] {
  const { catalog, samples } = parts;
  const giveBody = bodyGiver(parts.artifacts);
  return [
    serveEndpoint(parts, listDeliveries, async ({ by, params, query }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      return await list(parts, sourceId, query);
    }),
    serveEndpoint(parts, readDelivery, async ({ by, params }) => {
      const { delivery, source } = await ownDelivery(catalog, by, params.artifact_id!);
      const { artifactId } = delivery;
      const details = (await catalog.deliveryPages.details(artifactId, besideMax))!;
      return deliveryView(delivery, details, await reparseVersionOf(catalog, delivery, source));
    }),
    serveEndpoint(parts, listRejections, async ({ by, params, query }) => {
      const { delivery } = await ownDelivery(catalog, by, params.artifact_id!);
      const { artifactId, generation, counts } = delivery;
      const { offset = 0, limit = rejectionsPageMax } = query;
      const want = { artifactId, generation, offset, limit: limit + 1 };
      const found = counts?.rejected ? await samples.rejections(want) : [];
      const next = found.length > limit ? offset + limit : null;
      return {
        rejections: found.slice(0, limit).map(rejectionView),
        ...{ next_offset: next, generation },
      };
    }),
    serveEndpoint(parts, readRecordTexts, async ({ by, params, query }) => {
      const { delivery } = await ownDelivery(catalog, by, params.artifact_id!);
      return { records: await recordTexts(parts, delivery.sequence, query.records) };
    }),
    serveEndpoint(parts, downloadBody, async ({ by, params }) => {
      const { delivery } = await ownDelivery(catalog, by, params.artifact_id!);
      return await giveBody(delivery);
    }),
    ...reparseRoutes(parts),
  ];
}

async function list(
  { catalog }: AppParts,
  sourceId: string,
  query: QueryOf<typeof listDeliveries>,
) {
  const { status, sandbox, received_from: from, received_before: before } = query;
  const bounds = {
    ...(sandbox !== undefined && { sandbox }),
    ...(from !== undefined && { receivedFrom: from }),
    ...(before !== undefined && { receivedBefore: before }),
  };
  const { sequences, cut } = await namesIn(catalog, sourceId, query);
  const filter: PageFilter = {
    ...bounds,
    ...(status !== undefined && { status }),
    ...(sequences !== undefined && { sequences }),
    ...(query.conflicting && { conflicting: true as const }),
    ...(query.rejecting && { rejecting: true as const }),
  };
  const { limit = pageSize } = query;
  const after = query.before === undefined ? {} : { after: cursorOf(query.before) };
  // One more than is shown says whether there is another page.
  const page = { limit: limit + 1, ...after };
  const found = await catalog.deliveryPages.page(sourceId, filter, page);
  const last = found.length > limit ? found[limit - 1]!.delivery : null;
  return {
    deliveries: found.slice(0, limit).map(listedView),
    next: last && `${last.receivedAt}-${last.sequence}`,
    counts: await catalog.deliveryPages.counts(sourceId, bounds, countedMax.status),
    keys_cut: cut,
  };
}

/** A beginning that very many names share finds the first of them only. */
async function namesIn(
  { deliveryPages }: AppParts['catalog'],
  sourceId: string,
  { key, whole_key: whole = false }: QueryOf<typeof listDeliveries>,
): Promise<{ sequences?: readonly number[]; cut: boolean }> {
  if (key === undefined) return { cut: false };
  const found = await deliveryPages.named(sourceId, { text: key, whole }, namesFoundMax + 1);
  const names = found.slice(0, namesFoundMax);
  return {
    sequences: [...new Set(names.map((one) => one.sequence))],
    cut: found.length > namesFoundMax,
  };
}

function cursorOf(text: string): { receivedAt: number; sequence: number } {
  const [receivedAt, sequence] = text.split('-').map(Number) as [number, number];
  return { receivedAt, sequence };
}

async function recordTexts(parts: AppParts, sequence: number, records: readonly number[]) {
  const [basis] = await parts.catalog.deliveries.bases({ after: sequence - 1, limit: 1 });
  const found = await readRecords(parts, basis!, records, recordShownMax);
  return records.map((record, i) => {
    const located = found[i]!;
    if (located === null) return { record, line: null, fields: null, cut: false };
    const masked = new Set(located.masked);
    const fields = Object.entries(located.fields).map(([name, text]) => {
      return { name, text, masked: masked.has(name) };
    });
    return { record, line: located.line, fields, cut: located.cut };
  });
}
