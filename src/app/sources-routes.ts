import { v7 as uuid } from 'uuid';
import { CatalogRefusal, type SavedSource } from '../catalog/catalog.ts';
import type { SourceSummary } from '../catalog/source-summaries-contract.ts';
import type { AnswerOf } from '../domain/api/app/endpoint.ts';
import {
  createSource,
  listSources,
  listVersions,
  readSource,
  readVersion,
  saveSource,
  tryShape,
} from '../domain/api/app/sources.ts';
import { AppError } from '../domain/app-errors.ts';
import { countedMax } from '../domain/counted.ts';
import type { Field, Metric, ShapeVersion } from '../domain/nouns.ts';
import { validateShape } from '../domain/shapes.ts';
import type { Route } from '../http/routes.ts';
import { instant } from '../std/instant.ts';
import { dryRuns } from './dry-run.ts';
import { ownSource } from './owned.ts';
import type { AppParts } from './parts.ts';
import { serveEndpoint } from './serve-endpoint.ts';
import { requireFresh, type SignedIn } from './session.ts';

const versionsPage = 100;

export function sourceRoutes(parts: AppParts): Route[] {
  return [...readingRoutes(parts), ...savingRoutes(parts), tryRoute(parts)];
}

function readingRoutes(parts: AppParts): Route[] {
  const { catalog } = parts;
  return [
    serveEndpoint(parts, listSources, async ({ by, now }) => {
      const sources = await catalog.sourceSummaries.sources(by.company.companyId, now);
      return { sources: sources.map(summaryView) };
    }),
    serveEndpoint(parts, readSource, async ({ by, params }) => {
      const { sourceId, name, shapeVersion } = await ownSource(catalog, by, params.source_id!);
      const current = (await catalog.lookup.shape(sourceId, shapeVersion))!;
      const first = (await catalog.lookup.shape(sourceId, 1))!;
      const { delivery, format, fields } = current;
      return {
        ...{ source_id: sourceId, name, delivery, format, shape_version: shapeVersion },
        ...{ created_at: instant(first.savedAt), fields: [...fields] },
      };
    }),
    serveEndpoint(parts, listVersions, async ({ by, params, query }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      const page = { limit: versionsPage + 1, ...query };
      const found = await catalog.sourceSummaries.shapes(sourceId, page);
      const versions = found.slice(0, versionsPage).map(versionView);
      return { versions, more: found.length > versionsPage };
    }),
    serveEndpoint(parts, readVersion, async ({ by, params }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      const number = /^[1-9][0-9]{0,8}$/.test(params.version!) ? Number(params.version) : null;
      const shape = number && (await catalog.lookup.shape(sourceId, number));
      if (!shape) throw new AppError('not_found', 'The source has no such version.');
      return { ...versionView(shape), fields: [...shape.fields] };
    }),
  ];
}

function savingRoutes(parts: AppParts): Route[] {
  const { directory } = parts.catalog;
  return [
    serveEndpoint(parts, createSource, async ({ by, body, now }) => {
      const { name, delivery, format = 'csv', fields } = body;
      const made = delivery === 'webhook' ? freshSecret(parts, by, now) : null;
      const source = await directory.createSource(
        {
          ...{ sourceId: uuid(), companyId: by.company.companyId, name, delivery, format, fields },
          savedBy: by.user.email,
          ...(made && { secret: made.secret }),
        },
        now,
      );
      return savedView(source, made?.text);
    }),
    serveEndpoint(parts, saveSource, async ({ by, params, body, now }) => {
      const source = await ownSource(parts.catalog, by, params.source_id!);
      const { based_on: basedOn, ...change } = body;
      const becomes = change.delivery === 'webhook' && source.delivery !== 'webhook';
      const made = becomes ? freshSecret(parts, by, now) : null;
      const saved = await directory.saveSource(
        source.sourceId,
        { ...change, basedOn, savedBy: by.user.email, ...(made && { secret: made.secret }) },
        now,
      );
      const { withdrawn } = saved;
      if (withdrawn) parts.wakeParsing();
      const waiting =
        withdrawn && (await parts.untilWithdrawn(source.sourceId, withdrawn.generation));
      return {
        ...savedView(saved, made?.text),
        withdrawn: withdrawn && { deliveries: withdrawn.deliveries, waiting: waiting! },
      };
    }),
  ];
}

function tryRoute(parts: AppParts): Route {
  const run = dryRuns(parts);
  return serveEndpoint(parts, tryShape, async ({ by, params, body }) => {
    const { sourceId, shapeVersion } = await ownSource(parts.catalog, by, params.source_id!);
    const { directory, lookup } = parts.catalog;
    const metrics = await directory.metrics(by.company.companyId);
    requireShape(body.fields, metrics);
    const current = (await lookup.shape(sourceId, shapeVersion))!;
    const { fields, format = current.format, deliveries: many } = body;
    const { withdraws, deliveries } = await run({ sourceId, fields, format, many });
    const named = deliveries.map(async (one) => {
      const [key] = await parts.catalog.deliveries.idempotencyKeys(one.artifact_id);
      return { ...one, idempotency_key: key! };
    });
    return { withdraws, deliveries: await Promise.all(named) };
  });
}

/** A secret is made by who checked a passkey just now, whatever else the request does. */
function freshSecret(parts: AppParts, by: SignedIn, now: number) {
  requireFresh(by, now);
  return parts.newSecret();
}

/** @throws CatalogRefusal as a save of these fields would be refused */
function requireShape(fields: readonly Field[], metrics: readonly Metric[]): void {
  const problem = validateShape(fields, metrics);
  if (!problem) return;
  throw new CatalogRefusal(problem.code, problem.message, problem.field ?? undefined);
}

function summaryView(source: SourceSummary): AnswerOf<typeof listSources>['sources'][number] {
  const { lastDelivery: last } = source;
  return {
    source_id: source.sourceId,
    name: source.name,
    delivery: source.delivery,
    shape_version: source.shapeVersion,
    created_at: instant(source.createdAt),
    last_delivery: last && { received_at: instant(last.receivedAt), sandbox: last.sandbox },
    backlog: source.backlog,
    backlog_cut: source.backlog >= countedMax.backlog,
    rejected_24h: source.rejected,
    rejected_sandbox_24h: source.rejectedSandbox,
  };
}

function versionView(shape: ShapeVersion) {
  return {
    version: shape.version,
    delivery: shape.delivery,
    format: shape.format,
    fields_declared: shape.fields.length,
    saved_at: instant(shape.savedAt),
    saved_by: shape.savedBy,
  };
}

function savedView(source: SavedSource, secret: string | undefined) {
  return {
    source_id: source.sourceId,
    shape_version: source.shapeVersion,
    ...(source.secretTaken ? { signing_secret: secret } : {}),
  };
}
