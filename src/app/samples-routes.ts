import type { AnswerOf } from '../domain/api/app/endpoint.ts';
import {
  exportSamples,
  labelSetsMax,
  labelValuesMax,
  listSamples,
  pointsMax,
  readFacets,
  readSeries,
  readTrace,
  seriesMax,
} from '../domain/api/app/samples.ts';
import type { Metric } from '../domain/nouns.ts';
import { dayToText } from '../domain/periods.ts';
import type { Route } from '../http/routes.ts';
import type { PlacedSample, SampleSeries } from '../samples/explore-contract.ts';
import { exportLimit } from './export-limit.ts';
import { ownSource } from './owned.ts';
import type { AppParts } from './parts.ts';
import { filterOf, placeOf, placeText } from './sample-filter.ts';
import { csvName, samplesCsv } from './samples-csv.ts';
import { serveEndpoint } from './serve-endpoint.ts';
import { traceView } from './trace-view.ts';

const pageDefault = 100;

/** Samples as a chart, a table, a file, and one of them with where it comes from. */
export function sampleRoutes(parts: AppParts): Route[] {
  const { catalog, explorer } = parts;
  const withinLimit = exportLimit();
  return [
    serveEndpoint(parts, readFacets, async ({ by, params, query }) => {
      const { sourceId, companyId } = await ownSource(catalog, by, params.source_id!);
      return await facets(parts, sourceId, companyId, query.metric);
    }),
    serveEndpoint(parts, listSamples, async ({ by, params, query }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      const { limit = pageDefault, after } = query;
      // One more than asked for tells whether there is another page.
      const page = { limit: limit + 1, ...(after === undefined ? {} : { after: placeOf(after) }) };
      const found = await explorer.page(filterOf(sourceId, query), page);
      const samples = found.slice(0, limit);
      const next = found.length > limit ? placeText(samples.at(-1)!) : null;
      return { samples: samples.map(sampleView), next };
    }),
    serveEndpoint(parts, readSeries, async ({ by, params, query }) => {
      const { sourceId } = await ownSource(catalog, by, params.source_id!);
      const asked = { filter: filterOf(sourceId, query), seriesMax, pointsMax };
      const { bucketDays, series, total } = await explorer.series(asked);
      return { bucket_days: bucketDays, series: series.map(seriesView), total };
    }),
    serveEndpoint(parts, exportSamples, async ({ exchange, by, params, query, headers }) => {
      const source = await ownSource(catalog, by, params.source_id!);
      const filter = filterOf(source.sourceId, query);
      const metrics = await catalog.directory.metrics(source.companyId);
      const about = {
        ...headers,
        'Content-Type': 'text/csv; charset=utf-8; header=present',
        'Content-Disposition': `attachment; filename="${csvName(source.name)}"`,
      };
      const csv = samplesCsv(explorer, filter, metrics);
      await withinLimit(source.companyId, () =>
        exchange.stream({ status: 200, headers: about }, csv),
      );
      return null;
    }),
    serveEndpoint(parts, readTrace, async ({ by, params, query }) => {
      const source = await ownSource(catalog, by, params.source_id!);
      return await traceView(parts, source, query);
    }),
  ];
}

async function facets(
  { catalog, explorer }: Pick<AppParts, 'catalog' | 'explorer'>,
  sourceId: string,
  companyId: string,
  asked: string | undefined,
): Promise<AnswerOf<typeof readFacets>> {
  const finding = explorer.metrics(sourceId);
  const choosing =
    asked === undefined
      ? finding.then(([first]) => first?.metric ?? null)
      : Promise.resolve<string | null>(asked);
  const reading = choosing.then((metric) =>
    metric === null ? [] : explorer.labelSets(sourceId, metric, labelSetsMax + 1),
  );
  const knowing = catalog.directory.metrics(companyId);
  const [known, found, metric, sets] = await Promise.all([knowing, finding, choosing, reading]);
  const declared = new Map<string, Metric>(known.map((one) => [one.key, one]));
  return {
    metrics: found.map((one) => ({
      key: one.metric,
      name: declared.get(one.metric)?.name ?? one.metric,
      unit: declared.get(one.metric)?.unit ?? '',
      has_sandbox: one.hasSandbox,
      first_day: dayToText(one.firstDay),
      last_day: dayToText(one.lastDay),
    })),
    metric,
    labels: labelChoices(sets.slice(0, labelSetsMax), sets.length > labelSetsMax),
  };
}

function labelChoices(sets: readonly string[], cut: boolean) {
  const byName = new Map<string, Set<string>>();
  for (const set of sets) {
    for (const [name, text] of Object.entries(labelsOf(set))) {
      const values = byName.get(name) ?? new Set();
      byName.set(name, values.add(text));
    }
  }
  return [...byName].map(([name, values]) => ({
    name,
    values: [...values].sort().slice(0, labelValuesMax),
    cut: cut || values.size > labelValuesMax,
  }));
}

function labelsOf(json: string): Record<string, string> {
  return JSON.parse(json) as Record<string, string>;
}

function sampleView({ day, metric, labelsJson, sandbox, value, artifactId }: PlacedSample) {
  return {
    ...{ metric, period_start: dayToText(day), value, labels: labelsOf(labelsJson), sandbox },
    artifact_id: artifactId,
  };
}

function seriesView({ labelsJson, sandbox, points }: SampleSeries) {
  return {
    ...{ labels: labelsOf(labelsJson), sandbox },
    points: {
      first_day: points.map(({ firstDay }) => dayToText(firstDay)),
      last_day: points.map(({ lastDay }) => dayToText(lastDay)),
      min: points.map(({ min }) => min),
      max: points.map(({ max }) => max),
      last: points.map(({ last }) => last),
      samples: points.map(({ samples }) => samples),
    },
  };
}
